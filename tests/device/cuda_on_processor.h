// Enough of CUDA for the processor to run field.cu unchanged: the threads of a block are fibers that take turns
// at each __syncthreads, blocks come one after the other.

#include <cmath>
#include <cstring>
#include <functional>
#include <ucontext.h>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static

struct Place {
    unsigned x, y, z;
};
static Place threadIdx, blockIdx;

static inline long long __double_as_longlong(double x) {
    long long y;
    std::memcpy(&y, &x, sizeof y);
    return y;
}
static inline double __longlong_as_double(long long x) {
    double y;
    std::memcpy(&y, &x, sizeof y);
    return y;
}

typedef unsigned long long Word;
static inline Word atomicMax(Word *place, Word value) {
    const Word before = *place;
    if (value > before) *place = value;
    return before;
}
static inline Word atomicAdd(Word *place, Word value) {
    const Word before = *place;
    *place += value;
    return before;
}
static inline int atomicCAS(int *place, int expected, int value) {
    const int before = *place;
    if (before == expected) *place = value;
    return before;
}

struct Fiber {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(1 << 16);
    bool ended = false;
};
static ucontext_t scheduler;
static Fiber *running;
static const std::function<void()> *kernel;

static void __syncthreads() { swapcontext(&running->context, &scheduler); }

static void run_fiber() {
    (*kernel)();
    running->ended = true;
    swapcontext(&running->context, &scheduler);
}

static void run_block(std::vector<Fiber> &fibers) {
    for (Fiber &fiber : fibers) {
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.data();
        fiber.context.uc_stack.ss_size = fiber.stack.size();
        fiber.context.uc_link = nullptr;
        fiber.ended = false;
        makecontext(&fiber.context, run_fiber, 0);
    }
    for (bool all_ended = false; !all_ended;) {
        all_ended = true;
        for (unsigned thread = 0; thread < fibers.size(); ++thread) {
            if (fibers[thread].ended) continue;
            threadIdx = {thread, 0, 0};
            running = &fibers[thread];
            swapcontext(&scheduler, &running->context);
            all_ended = all_ended && running->ended;
        }
    }
}

static void run_grid(unsigned x, unsigned y, unsigned z, unsigned threads, const std::function<void()> &body) {
    static std::vector<Fiber> fibers;
    fibers.resize(threads);
    kernel = &body;
    for (blockIdx.z = 0; blockIdx.z < z; ++blockIdx.z)
        for (blockIdx.y = 0; blockIdx.y < y; ++blockIdx.y)
            for (blockIdx.x = 0; blockIdx.x < x; ++blockIdx.x) run_block(fibers);
}
