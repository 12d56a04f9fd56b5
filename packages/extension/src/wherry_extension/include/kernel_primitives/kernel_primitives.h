// The name that the manual's examples include.
#pragma once

#include "paddle/phi/kernels/primitive/kernel_primitives.h"
