// The same as all.h.
#pragma once

#include "paddle/phi/capi/include/kernel_registry.h"
