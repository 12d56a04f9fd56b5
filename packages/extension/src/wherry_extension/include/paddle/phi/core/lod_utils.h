// Levels of detail: how rows of a tensor belong together. The framework gives none; a kernel may set and read them.
#pragma once

#include <cstddef>
#include <vector>

namespace phi {
using LoD = std::vector<std::vector<size_t>>;
}
