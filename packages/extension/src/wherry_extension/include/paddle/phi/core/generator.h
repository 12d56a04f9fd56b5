// Generator: where the random numbers of a call begin.
#pragma once

#include <cstdint>
#include <utility>

namespace phi {

class Generator {
 public:
  Generator() = default;
  Generator(uint64_t seed, uint64_t offset) : seed_(seed), offset_(offset) {}
  uint64_t GetCurrentSeed() const { return seed_; }
  uint64_t Seed() const { return seed_; }
  void SetCurrentSeed(uint64_t seed) { seed_ = seed; }
  // The seed and an offset that no other call uses; `increment` numbers of it are taken.
  std::pair<uint64_t, uint64_t> IncrementOffset(uint64_t increment) {
    const std::pair<uint64_t, uint64_t> found{seed_, offset_};
    offset_ += increment;
    return found;
  }
  uint64_t Random64() {  // splitmix64
    uint64_t x = seed_ + (++offset_) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }

 private:
  uint64_t seed_ = 0, offset_ = 0;
};

}  // namespace phi
