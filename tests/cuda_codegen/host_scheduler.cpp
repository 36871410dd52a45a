// The threads of a block as coroutines: one runs at a time, between barriers in random order.
#include <algorithm>
#include <random>
#include <string>
#include <ucontext.h>
#include <vector>

struct Triple { unsigned x, y, z; };
Triple threadIdx, blockIdx, gridDim, blockDim;

namespace emulation {
void (*body)(void**);
void** parameters;
const unsigned NOT_STARTED = 0, RUNNING = 1, AT_BARRIER = 2, AT_EXCHANGE = 3, DONE = 4;
struct Thread { ucontext_t context; std::vector<char> stack; unsigned state; unsigned long long given; };
std::vector<Thread> threads;
ucontext_t scheduler;
unsigned current;
std::string failure;
unsigned char* dynamic_shared;

void start() { body(parameters); threads[current].state = DONE; swapcontext(&threads[current].context, &scheduler); }
void wait(unsigned how) {
  unsigned me = current;
  threads[me].state = how;
  swapcontext(&threads[me].context, &scheduler);
  current = me;
  threadIdx.x = me;
}
void resume(unsigned i) {
  current = i;
  threadIdx.x = i;
  threads[i].state = RUNNING;
  swapcontext(&scheduler, &threads[i].context);
}
bool all(unsigned first, unsigned last, unsigned state) {
  for (unsigned i = first; i < last; ++i) if (threads[i].state != state) return false;
  return true;
}
void block(unsigned count, std::mt19937& random) {
  std::vector<unsigned> order(count);
  for (unsigned i = 0; i < count; ++i) {
    order[i] = i;
    Thread& t = threads[i];
    t.state = NOT_STARTED;
    getcontext(&t.context);
    t.context.uc_stack.ss_sp = t.stack.data();
    t.context.uc_stack.ss_size = t.stack.size();
    t.context.uc_link = &scheduler;
    makecontext(&t.context, start, 0);
  }
  while (failure.empty()) {
    std::shuffle(order.begin(), order.end(), random);
    bool moved = false;
    for (unsigned i : order) if (threads[i].state <= RUNNING) { resume(i); moved = true; }
    for (unsigned w = 0; w < count; w += 32) {  // a warp whose lanes have all arrived at an exchange goes on
      unsigned end = std::min(w + 32, count);
      if (all(w, end, AT_EXCHANGE)) { for (unsigned i = w; i < end; ++i) threads[i].state = RUNNING; moved = true; }
    }
    if (all(0, count, DONE)) return;
    if (all(0, count, AT_BARRIER)) { for (Thread& t : threads) t.state = RUNNING; moved = true; }
    if (!moved) failure = "threads of a block wait for each other at different places";
  }
}
void wait_at_barrier() { wait(AT_BARRIER); }
unsigned long long exchange(unsigned long long given, unsigned source) {
  threads[current].given = given;
  wait(AT_EXCHANGE);
  unsigned long long got = threads[current / 32 * 32 + source % 32].given;
  wait(AT_EXCHANGE);
  return got;
}
// The same in three steps, so that a lane may look at what all the others have given before any of them goes on.
void give(unsigned long long given) {
  threads[current].given = given;
  wait(AT_EXCHANGE);
}
unsigned long long given_by(unsigned lane) { return threads[current / 32 * 32 + lane % 32].given; }
void go_on() { wait(AT_EXCHANGE); }
}  // namespace emulation

extern "C" void __assertfail(const char* message, const char* file, unsigned line, const char*, size_t) {
  emulation::failure = std::string(message) + " (" + file + ":" + std::to_string(line) + ")";
  swapcontext(&emulation::threads[emulation::current].context, &emulation::scheduler);  // never resumed
}

extern "C" const char* emulate(unsigned x, unsigned y, unsigned z, unsigned count, unsigned dynamic, void (*body)(void**),
                               void** parameters, unsigned seed) {
  using namespace emulation;
  emulation::body = body;
  emulation::parameters = parameters;
  gridDim = {x, y, z};
  blockDim = {count, 1, 1};
  failure.clear();
  threads.resize(count);
  for (Thread& t : threads) t.stack.resize(256 * 1024);
  std::vector<unsigned char> memory(dynamic + 16, 0x7f);
  dynamic_shared = reinterpret_cast<unsigned char*>((reinterpret_cast<size_t>(memory.data()) + 15) / 16 * 16);
  std::mt19937 random(seed);
  for (blockIdx.z = 0; blockIdx.z < z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < x && failure.empty(); ++blockIdx.x) block(count, random);
  return failure.empty() ? nullptr : failure.c_str();
}
