# The workflow with everything it needs, from the lock file:
#
#     docker build --tag usaav .
#     docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/work" usaav --cores all
#
# Results go to the mounted folder. Name a digest after the tag below to build the same image for ever.
FROM python:3.12-slim-bookworm

ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 XDG_CACHE_HOME=/tmp/cache

# First what changes seldom: the packages, checked against their hashes.
WORKDIR /usaav
COPY envs/requirements-build.txt envs/requirements-cluster.txt envs/
RUN pip install --require-hashes -r envs/requirements-build.txt \
    && pip install --require-hashes --no-build-isolation -r envs/requirements-cluster.txt

COPY pyproject.toml LICENSE README.md Snakefile config.yaml ./
COPY src src
COPY workflow workflow
COPY profiles profiles
COPY config config
COPY envs envs
RUN pip install --no-deps --no-build-isolation -e .

WORKDIR /work
ENTRYPOINT ["snakemake", "--snakefile", "/usaav/Snakefile"]
CMD ["--cores", "all"]
