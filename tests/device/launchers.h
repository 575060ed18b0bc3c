// What Python calls: each kernel of field.cu on a grid.

#define GRID unsigned x, unsigned y, unsigned z
#define ON_GRID(call) run_grid(x, y, z, THREADS, [=] { call; })

#pragma GCC visibility push(default)
extern "C" {
void launch_pairs(GRID, Run *runs) { ON_GRID(pairs(runs)); }
void launch_look(GRID, Run *runs) { ON_GRID(look(runs)); }
void launch_energy(GRID, Run *runs) { ON_GRID(energy(runs)); }
void launch_settle(GRID, Run *runs) { ON_GRID(settle(runs)); }
void launch_arrive(GRID, Run *runs, const double *table) { ON_GRID(arrive(runs, table)); }
void launch_next_stage(GRID, Run *runs, const double *table, int stage) { ON_GRID(next_stage(runs, table, stage)); }
void launch_displaced(GRID, Run *runs, const double *weights, int stages, int to_end) {
    ON_GRID(displaced(runs, weights, stages, to_end));
}
void launch_join(GRID, Run *runs) { ON_GRID(join(runs)); }
void launch_name_components(GRID, Run *runs) { ON_GRID(name_components(runs)); }
unsigned long long size_of_run() { return sizeof(Run); }
}
#pragma GCC visibility pop
