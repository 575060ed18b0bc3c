// The flow of reduced tokens on a CUDA device: pair sums, the stages of a step, a look at all pairs, the energy,
// and the components of the graph of close tokens.
//
// Tokens are unit rows in gauge coordinates. With internal time s (see usaav.flow.compiled)
//
//     dz_i/ds = P_{z_i} sum_{j != i} m_j W_ij exp(-beta |z_j - z_i|^2 / 2 + shift) (z_j - z_i),
//
// in difference form: no self term, nothing overflows. No n x n array is made: a block keeps its targets in
// registers and passes all sources through shared memory; W_ij is computed from the labels of the pair.
//
// One launch serves all runs of a batch: blockIdx.z (or .y, where there is a thread for each token) is the run,
// and `runs` says where its arrays are. What a run computes does not depend on the others.
//
// Compiled anew for each kind of interaction, see usaav.gpu.field for the macros:
//
//     DIM           components of a token; up to 8 a target is kept in registers, above a block shares 16
//     THREADS       threads of a block; 256 for DIM > 8
//     EXPONENTIAL   1: phi(s) = exp(beta s)/beta, 0: phi(s) = s
//     SOFTMAX       1: divided by the sum of the exponentials
//     WEIGHT        0: W = 1, 1: exp2(rate |D|), 2: exp2(rate D^2), 3: sum of ORDERS cosines of D
//     PERIODIC      1: labels on a circle (WEIGHT 1 and 2)
//     ORDERS        number of cosines (WEIGHT 3)
//     SINGLE        1: the terms of the pair sum in float; all else stays double
//
// The same file is compiled for the processor by the tests, which need not have a device.

#if SINGLE
typedef float real;
#else
typedef double real;
#endif

#if DIM <= 8
#define TARGETS THREADS
#else
#define TARGETS 16
#endif
#define WIDTH (DIM + SOFTMAX)
#if WEIGHT == 3
#define LABELS (2 * ORDERS)
#else
#define LABELS (WEIGHT > 0)
#endif

typedef unsigned long long bits;

// A run and its arrays; usaav.gpu.launches has the same table.
struct Run {
    const double *start;         // (count, DIM) tokens at the beginning of the step
    const double *velocity;      // (count, DIM) their velocity, which is stage 0
    const double *masses;        // (count)
    const double *labels;        // (count, LABELS) what the weight needs of a label
    const double *names;         // (count) the labels themselves
    const double *law;           // rate and period, or the coefficients of the cosines
    double *points;              // (count, DIM) where the field is evaluated
    double *stages;              // (11, count, DIM) velocities of stages 1 ... 11
    double *partial;             // (splits, count, WIDTH) sums over a part of the sources
    double *end;                 // (count, DIM) tokens at the end of the step
    double *end_velocity;        // (count, DIM)
    struct Near *found;          // (capacity) pairs of close tokens
    int *parents;                // (count) the graph of close tokens
    long long count;
    long long splits;
    long long capacity;
    double slope, shift;         // the exponent in powers of two: slope |z_j - z_i|^2 + shift
    double size, tolerance;      // of the step
    double near, report;         // squared chords, see usaav.flow.systems
    bits error, speed;           // outcomes, as the bits of doubles: the error as an angle, the squared speed,
    bits smallest, fastest, widest; // of all pairs the square (complemented); of near ones rate and square
    bits within, parting, listed; // pairs nearer than `report`: all; moving apart; written to `found`
};

struct Near {
    long long first, second;
    double square, rate;
};

// ------------------------------------------------------------------------------------------------- arithmetic

// 2^x for x < 1020, to 2.5 units in the last place; below -1000 a number that is as good as zero.
__device__ __forceinline__ double power_of_two(double x) {
    const double split = 6755399441055744.0; // 1.5 * 2^52: adding it rounds to an integer, kept in the low bits
    x = x < -1000.0 ? -1000.0 : x;
    const double shifted = x + split;
    const double f = x - (shifted - split);
    double p = 2.5678435993488196e-11; // ln(2)^k / k!
    p = p * f + 4.44553827187081e-10;
    p = p * f + 7.054911620801121e-09;
    p = p * f + 1.0178086009239696e-07;
    p = p * f + 1.3215486790144305e-06;
    p = p * f + 1.5252733804059838e-05;
    p = p * f + 0.00015403530393381606;
    p = p * f + 0.0013333558146428441;
    p = p * f + 0.009618129107628477;
    p = p * f + 0.055504108664821576;
    p = p * f + 0.2402265069591007;
    p = p * f + 0.6931471805599453;
    p = p * f + 1.0;
    return __longlong_as_double(__double_as_longlong(p) + (__double_as_longlong(shifted) << 52));
}

__device__ __forceinline__ float power_of_two(float x) { return exp2f(x); }

// A coordinate, such that differences of close ones are exact to the last digit of R.
template <class R> struct Coordinate;

template <> struct Coordinate<double> {
    double value;
    __device__ __forceinline__ void set(double x) { value = x; }
    __device__ __forceinline__ double from(const Coordinate &origin) const { return value - origin.value; }
};

template <> struct Coordinate<float> {
    float high, low;
    __device__ __forceinline__ void set(double x) {
        high = (float)x;
        low = (float)(x - (double)high);
    }
    __device__ __forceinline__ float from(const Coordinate &origin) const {
        return (high - origin.high) + (low - origin.low);
    }
};

// What the weight needs of a label.
template <class R> struct Label {
#if WEIGHT == 3
    R waves[LABELS]; // cos(m label) and sin(m label), order after order
#elif WEIGHT > 0
    Coordinate<R> at;
#endif
    __device__ __forceinline__ void set(const Run &run, long long i) {
#if WEIGHT == 3
        for (int k = 0; k < LABELS; ++k) waves[k] = (R)run.labels[i * LABELS + k];
#elif WEIGHT > 0
        at.set(run.labels[i]);
#endif
    }
};

// The same for a target: its cosines carry the coefficients.
template <class R> __device__ __forceinline__ void set_target(Label<R> &label, const Run &run, long long i) {
    label.set(run, i);
#if WEIGHT == 3
    for (int k = 0; k < LABELS; ++k) label.waves[k] *= (R)run.law[k / 2];
#endif
}

// W_ij exp2(slope square + shift), without the exponential where phi is linear.
template <class R> struct Strength {
    R slope, shift, rate, period;

    __device__ __forceinline__ Strength(const Run &run, double shift_)
        : slope((R)run.slope), shift((R)shift_), rate(0), period(0) {
#if WEIGHT == 1 || WEIGHT == 2
        rate = (R)run.law[0];
        period = (R)run.law[1];
#endif
    }

    __device__ __forceinline__ R of(R square, const Label<R> &target, const Label<R> &source) const {
#if EXPONENTIAL
        R exponent = slope * square + shift;
#elif WEIGHT == 1 || WEIGHT == 2
        R exponent = 0;
#endif
#if WEIGHT == 1 || WEIGHT == 2
        R distance = source.at.from(target.at);
        distance = distance < 0 ? -distance : distance;
#if PERIODIC
        distance = distance < period - distance ? distance : period - distance;
#endif
        exponent += WEIGHT == 1 ? rate * distance : rate * distance * distance;
#endif
#if EXPONENTIAL || WEIGHT == 1 || WEIGHT == 2
        R strength = power_of_two(exponent);
#else
        R strength = 1;
#endif
#if WEIGHT == 3
        R sum = 0;
#pragma unroll
        for (int k = 0; k < LABELS; ++k) sum += target.waves[k] * source.waves[k];
        strength *= sum;
#endif
        return strength;
    }
};

// A step that was rejected needs nothing more.
__device__ __forceinline__ bool rejected(const Run &run) {
    return __longlong_as_double((long long)run.error) > run.tolerance;
}

// The sources that a block sums over.
struct Part {
    long long first, last;
    __device__ __forceinline__ explicit Part(const Run &run) {
        const long long length = (run.count + run.splits - 1) / run.splits;
        first = (long long)blockIdx.y * length;
        last = first + length < run.count ? first + length : run.count;
    }
};

// Whether this block has targets and sources of its run: grids are as large as the largest run needs.
__device__ __forceinline__ bool idle(const Run &run) {
    return (long long)blockIdx.x * TARGETS >= run.count || (long long)blockIdx.y >= run.splits;
}

// ---------------------------------------------------------------------------------------------- the pair sum

#if DIM <= 8

// Aligned, so that it is read in few wide loads; a label that is empty takes no room as a base.
struct alignas(16) Source : Label<real> {
    Coordinate<real> z[DIM];
    real mass;
};

// as many sources as 32 kB of shared memory hold, at most one for each thread
#define ROOM (32768 / (int)sizeof(Source))
#define TILE (ROOM < THREADS ? ROOM : THREADS)

// One target of the block, and its sums.
struct Target {
    Coordinate<real> z[DIM];
    Label<real> label;
    double sum[DIM];
    double total;
};

// `self`: which of the tile is the target itself, if any.
__device__ __forceinline__ void add_tile(
    Target &target, const Source *tile, int length, long long self, const Strength<real> &strength) {
    real sum[DIM];
    real total = 0;
#pragma unroll
    for (int k = 0; k < DIM; ++k) sum[k] = 0;
#pragma unroll 4
    for (int j = 0; j < length; ++j) {
        real gap[DIM];
        real square = 0;
#pragma unroll
        for (int k = 0; k < DIM; ++k) {
            gap[k] = tile[j].z[k].from(target.z[k]);
            square += gap[k] * gap[k];
        }
        const real force = tile[j].mass * strength.of(square, target.label, tile[j]);
        // a large shift makes the self term inf * 0
        const real factor = j == self ? (real)0 : force;
#pragma unroll
        for (int k = 0; k < DIM; ++k) sum[k] += factor * gap[k];
        total += factor;
    }
#pragma unroll
    for (int k = 0; k < DIM; ++k) target.sum[k] += (double)sum[k];
    target.total += (double)total;
}

// Sums over a part of the sources, at `points`.
extern "C" __global__ void pairs(const Run *runs) {
    const Run &run = runs[blockIdx.z];
    if (idle(run) || rejected(run)) return;
    __shared__ Source tile[TILE];
    const Part part(run);
    const long long i = (long long)blockIdx.x * TARGETS + threadIdx.x;
    const long long mine = i < run.count ? i : 0;
    Target target;
    for (int k = 0; k < DIM; ++k) {
        target.z[k].set(run.points[mine * DIM + k]);
        target.sum[k] = 0.0;
    }
    target.total = 0.0;
    set_target(target.label, run, mine);
    const Strength<real> strength(run, run.shift);
    for (long long first = part.first; first < part.last; first += TILE) {
        const int length = (int)(part.last - first < TILE ? part.last - first : TILE);
        __syncthreads();
        if ((int)threadIdx.x < length) {
            const long long j = first + threadIdx.x;
            Source &source = tile[threadIdx.x];
            for (int k = 0; k < DIM; ++k) source.z[k].set(run.points[j * DIM + k]);
            source.mass = (real)run.masses[j];
            source.set(run, j);
        }
        __syncthreads();
        if (length == TILE)
            add_tile(target, tile, TILE, i - first, strength);
        else
            add_tile(target, tile, length, i - first, strength);
    }
    if (i < run.count) {
        double *sums = run.partial + ((long long)blockIdx.y * run.count + i) * WIDTH;
        for (int k = 0; k < DIM; ++k) sums[k] = target.sum[k];
#if SOFTMAX
        sums[DIM] = target.total;
#endif
    }
}

// Calls visit.pair(i, j, square) for the targets i of this block and all sources j of its part.
template <class Visit>
__device__ void each_pair(const double *z, long long count, Part part, bool only_later, Visit &visit) {
    __shared__ double tile[THREADS * DIM];
    const long long begin = (long long)blockIdx.x * TARGETS;
    const long long i = begin + threadIdx.x;
    double here[DIM];
    for (int k = 0; k < DIM; ++k) here[k] = i < count ? z[i * DIM + k] : 0.0;
    for (long long first = part.first; first < part.last; first += THREADS) {
        const int length = (int)(part.last - first < THREADS ? part.last - first : THREADS);
        if (only_later && first + length <= begin) continue;
        __syncthreads();
        for (int k = threadIdx.x; k < length * DIM; k += THREADS) tile[k] = z[first * DIM + k];
        __syncthreads();
        if (i < count)
            for (int j = 0; j < length; ++j) {
                double square = 0.0;
#pragma unroll
                for (int k = 0; k < DIM; ++k) {
                    const double gap = tile[j * DIM + k] - here[k];
                    square += gap * gap;
                }
                visit.pair(i, first + j, square);
            }
    }
}

#else // DIM > 8: 16 targets and 16 sources at a time, 16 components at a time

struct Chunks {
    double target[16][17], source[16][17];

    // components c ... c+15 of targets i ... and sources j ...; zero beyond the last
    __device__ __forceinline__ void load(const double *z, long long count, long long i, long long j, int c) {
        const int row = threadIdx.x / 16, column = threadIdx.x % 16;
        const bool there = c + column < DIM;
        __syncthreads();
        target[row][column] = there && i + row < count ? z[(i + row) * DIM + c + column] : 0.0;
        source[row][column] = there && j + row < count ? z[(j + row) * DIM + c + column] : 0.0;
        __syncthreads();
    }

    // squared distance of this thread's pair: target row, source column
    __device__ double square(const double *z, long long count, long long i, long long j) {
        const int row = threadIdx.x / 16, column = threadIdx.x % 16;
        double sum = 0.0;
        for (int c = 0; c < DIM; c += 16) {
            load(z, count, i, j, c);
#pragma unroll
            for (int k = 0; k < 16; ++k) {
                const double gap = source[column][k] - target[row][k];
                sum += gap * gap;
            }
        }
        return sum;
    }
};

extern "C" __global__ void pairs(const Run *runs) {
    const Run &run = runs[blockIdx.z];
    if (idle(run) || rejected(run)) return;
    __shared__ Chunks chunks;
    __shared__ real factors[16][17];
    const Part part(run);
    const int row = threadIdx.x / 16, column = threadIdx.x % 16;
    const long long begin = (long long)blockIdx.x * TARGETS, i = begin + row;
    double *sums = run.partial + ((long long)blockIdx.y * run.count + i) * WIDTH;
    double total = 0.0;
    Label<real> here, there;
    set_target(here, run, i < run.count ? i : 0);
    if (i < run.count) {
        for (int k = column; k < WIDTH; k += 16) sums[k] = 0.0;
    }
    const Strength<real> strength(run, run.shift);
    for (long long first = part.first; first < part.last; first += 16) {
        const long long j = first + column;
        const double square = chunks.square(run.points, run.count, begin, first);
        real factor = 0;
        if (i < run.count && j < part.last && i != j) {
            there.set(run, j);
            factor = (real)run.masses[j] * strength.of((real)square, here, there);
        }
        factors[row][column] = factor;
        total += (double)factor;
        for (int c = 0; c < DIM; c += 16) {
            chunks.load(run.points, run.count, begin, first, c); // its barrier is also that of `factors`
            if (i < run.count && c + column < DIM) {
                real sum = 0;
#pragma unroll
                for (int k = 0; k < 16; ++k)
                    sum += factors[row][k] * (real)(chunks.source[k][column] - chunks.target[row][column]);
                sums[c + column] += (double)sum;
            }
        }
        __syncthreads();
    }
#if SOFTMAX
    __syncthreads();
    chunks.target[row][column] = total;
    __syncthreads();
    if (i < run.count && column == 0)
        for (int k = 0; k < 16; ++k) sums[DIM] += chunks.target[row][k];
#endif
}

template <class Visit>
__device__ void each_pair(const double *z, long long count, Part part, bool only_later, Visit &visit) {
    __shared__ Chunks chunks;
    const long long begin = (long long)blockIdx.x * TARGETS;
    const long long i = begin + threadIdx.x / 16;
    for (long long first = part.first; first < part.last; first += 16) {
        if (only_later && first + 16 <= begin) continue;
        const double square = chunks.square(z, count, begin, first);
        const long long j = first + threadIdx.x % 16;
        if (i < count && j < part.last) visit.pair(i, j, square);
    }
}

#endif

// ------------------------------------------------------------------------------- one thread for each token

// The rows of the table of Dormand and Prince: A (12, 12), then B, E5, E3 (12 each).
#define STAGES 12
#define TABLE_B (STAGES * STAGES)
#define TABLE_E5 (TABLE_B + STAGES)
#define TABLE_E3 (TABLE_E5 + STAGES)

__device__ __forceinline__ const double *stage_row(const Run &run, int stage, long long i) {
    return stage == 0 ? run.velocity + i * DIM : run.stages + ((stage - 1) * run.count + i) * DIM;
}

// The unit row in the direction of start + size * sum_s weights[s] stages[s].
__device__ void displace(const Run &run, long long i, const double *weights, int stages, double *out) {
    double square = 0.0;
    for (int k = 0; k < DIM; ++k) {
        double move = 0.0;
        for (int s = 0; s < stages; ++s)
            if (weights[s] != 0.0) move += weights[s] * stage_row(run, s, i)[k];
        out[k] = run.start[i * DIM + k] + run.size * move;
        square += out[k] * out[k];
    }
    const double scale = 1.0 / sqrt(square);
    for (int k = 0; k < DIM; ++k) out[k] *= scale;
}

// The tangent velocity at `points`, from the partial sums; its squared length.
__device__ double finish(const Run &run, long long i, double *out) {
    const double *z = run.points + i * DIM;
    const double *sums = run.partial + i * WIDTH;
    const long long stride = run.count * WIDTH;
    double scale = 1.0;
#if SOFTMAX
    double total = run.masses[i]; // the self term: exp(0)
    const double unshifted = exp2(-run.shift);
    for (long long part = 0; part < run.splits; ++part) total += unshifted * sums[part * stride + DIM];
    scale = 1.0 / total;
#endif
    double radial = 0.0, pull = 0.0, rest = 0.0;
    for (int k = 0; k < DIM; ++k) {
        double sum = 0.0;
        for (long long part = 0; part < run.splits; ++part) sum += sums[part * stride + k];
        out[k] = sum * scale;
        radial += z[k] * out[k];
        pull += out[k] * out[k];
    }
    for (int k = 0; k < DIM; ++k) {
        out[k] -= radial * z[k];
        rest += out[k] * out[k];
    }
    // what is left of a radial pull is rounding: as a force it would move exactly antipodal tokens
    const double rounding = 8.0 * 2.220446049250313e-16;
    if (rest <= rounding * rounding * pull) {
        for (int k = 0; k < DIM; ++k) out[k] = 0.0;
        rest = 0.0;
    }
    return rest;
}

__device__ __forceinline__ bits bits_of(double value) { return (bits)__double_as_longlong(value); }

// The largest of the block's values, into *outcome. Of doubles >= 0 the bits have the same order; NaN is the largest.
__device__ void keep_largest(bits value, bits *outcome) {
    __shared__ bits values[THREADS];
    __syncthreads();
    values[threadIdx.x] = value;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half && values[threadIdx.x + half] > values[threadIdx.x])
            values[threadIdx.x] = values[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicMax(outcome, values[0]);
}

// The points of a stage from the stages before it; or, `to_end`, the end of a layer.
extern "C" __global__ void displaced(Run *runs, const double *weights, int stages, int to_end) {
    Run &run = runs[blockIdx.y];
    const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i < run.count) displace(run, i, weights, stages, (to_end ? run.end : run.points) + i * DIM);
}

// The velocity of a stage, and the points of the next.
extern "C" __global__ void next_stage(Run *runs, const double *table, int stage) {
    Run &run = runs[blockIdx.y];
    const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= run.count) return;
    finish(run, i, run.stages + ((stage - 1) * run.count + i) * DIM);
    displace(run, i, table + (stage + 1) * STAGES, stage + 1, run.points + i * DIM);
}

// The velocity of the last stage, the end of the step, and its largest error as an angle.
extern "C" __global__ void arrive(Run *runs, const double *table) {
    Run &run = runs[blockIdx.y];
    const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    double error = 0.0;
    if (i < run.count) {
        finish(run, i, run.stages + ((STAGES - 2) * run.count + i) * DIM);
        double fifth = 0.0, third = 0.0;
        for (int k = 0; k < DIM; ++k) {
            double a = 0.0, b = 0.0;
            for (int s = 0; s < STAGES; ++s) {
                const double speed = stage_row(run, s, i)[k];
                a += table[TABLE_E5 + s] * speed;
                b += table[TABLE_E3 + s] * speed;
            }
            fifth += a * a;
            third += b * b;
        }
        const double scale = sqrt(fifth + 0.01 * third);
        // where both estimates vanish the error does; NaN is no zero
        error = scale == 0.0 ? 0.0 : run.size * fifth / scale;
        displace(run, i, table + TABLE_B, STAGES, run.end + i * DIM);
        for (int k = 0; k < DIM; ++k) run.points[i * DIM + k] = run.end[i * DIM + k];
    }
    keep_largest(bits_of(error), &run.error);
}

// The velocity at `points`, and its largest square.
extern "C" __global__ void settle(Run *runs) {
    Run &run = runs[blockIdx.y];
    if (rejected(run)) return;
    const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    const double square = i < run.count ? finish(run, i, run.end_velocity + i * DIM) : 0.0;
    keep_largest(bits_of(square), &run.speed);
}

// ------------------------------------------------------------------------------------------ a look at all pairs

struct Look {
    Run &run;
    double smallest, fastest, widest;
    bits within, parting;

    __device__ __forceinline__ explicit Look(Run &run_)
        : run(run_), smallest(1e300), fastest(0.0), widest(0.0), within(0), parting(0) {}

    __device__ __forceinline__ void pair(long long i, long long j, double square) {
        if (j <= i) return;
        if (square < smallest) smallest = square;
        if (square < run.near) close(i, j, square);
    }

    __device__ void close(long long i, long long j, double square) {
        double closing = 0.0;
        for (int k = 0; k < DIM; ++k)
            closing -= (run.end[j * DIM + k] - run.end[i * DIM + k]) *
                       (run.end_velocity[j * DIM + k] - run.end_velocity[i * DIM + k]);
        const double rate = square > 0.0 ? closing / square : 0.0;
        if (rate > fastest) fastest = rate;
        if (square >= run.report) return;
        within += 1;
        if (square > widest) widest = square;
        if (rate < 0.0) parting += 1;
#if WEIGHT > 0
        if (run.names[i] != run.names[j]) return; // only labels that couple alike may merge
#endif
        const bits place = atomicAdd(&run.listed, (bits)1);
        if (place < (bits)run.capacity) {
            Near &near = run.found[place];
            near.first = i;
            near.second = j;
            near.square = square;
            near.rate = rate;
        }
    }
};

// All pairs of `end`, each once.
extern "C" __global__ void look(Run *runs) {
    Run &run = runs[blockIdx.z];
    if (idle(run) || rejected(run)) return;
    Look seen(run);
    each_pair(run.end, run.count, Part(run), true, seen);
    keep_largest(~bits_of(seen.smallest), &run.smallest); // the smallest has the largest complement
    keep_largest(bits_of(seen.fastest), &run.fastest);
    keep_largest(bits_of(seen.widest), &run.widest);
    if (seen.within) atomicAdd(&run.within, seen.within);
    if (seen.parting) atomicAdd(&run.parting, seen.parting);
}

// ----------------------------------------------------------------------------------------------------- energy

struct Energy {
    const Run &run;
    Strength<double> strength;
    Label<double> here, there;
    long long target;
    double sum;

    __device__ __forceinline__ explicit Energy(const Run &run_)
        : run(run_), strength(run_, 0.0), target(-1), sum(0.0) {}

    __device__ __forceinline__ void pair(long long i, long long j, double square) {
        if (i != target) {
            target = i;
            set_target(here, run, i);
        }
        there.set(run, j);
        double value = run.masses[j] * strength.of(square, here, there);
#if !EXPONENTIAL
        value *= 1.0 - 0.5 * square;
#endif
        sum += run.masses[i] * value;
    }
};

// sum_ij m_i m_j W_ij exp2(slope square), or 1 - square/2 for the linear profile: `partial` has a sum for each block.
extern "C" __global__ void energy(Run *runs) {
    Run &run = runs[blockIdx.z];
    if (idle(run)) return;
    Energy of(run);
    each_pair(run.start, run.count, Part(run), false, of);
    __shared__ double sums[THREADS];
    __syncthreads();
    sums[threadIdx.x] = of.sum;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    const long long blocks = (run.count + TARGETS - 1) / TARGETS;
    if (threadIdx.x == 0) run.partial[blockIdx.y * blocks + blockIdx.x] = sums[0];
}

// ----------------------------------------------------------------------------- components of the graph of close pairs

// `parents` is a forest in which every parent has a smaller index, so a component ends up named by its first token.
struct Join {
    int *parents;
    double square;

    __device__ int root(int i) const {
        int parent = ((volatile int *)parents)[i];
        while (parent != i) {
            i = parent;
            parent = ((volatile int *)parents)[i];
        }
        return i;
    }

    __device__ __forceinline__ void pair(long long i, long long j, double apart) {
        if (j > i && apart < square) unite((int)i, (int)j);
    }

    __device__ void unite(int i, int j) {
        i = root(i);
        j = root(j);
        while (i != j) {
            const int large = i < j ? j : i, small = i < j ? i : j;
            const int before = atomicCAS(&parents[large], large, small);
            if (before == large) return;
            i = root(before); // another thread was first
            j = root(small);
        }
    }
};

// Joins the tokens of `start` whose squared distance is below `near`; `parents` begins as 0, 1, 2, ...
extern "C" __global__ void join(Run *runs) {
    Run &run = runs[blockIdx.z];
    if (idle(run)) return;
    Join close;
    close.parents = run.parents;
    close.square = run.near;
    each_pair(run.start, run.count, Part(run), true, close);
}

// Each token's parent becomes the first token of its component.
extern "C" __global__ void name_components(Run *runs) {
    Run &run = runs[blockIdx.y];
    const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= run.count) return;
    Join close;
    close.parents = run.parents;
    close.square = 0.0;
    run.parents[i] = close.root((int)i);
}
