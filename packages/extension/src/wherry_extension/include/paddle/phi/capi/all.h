// All that a kernel for a plug-in device needs, in the form of PaddleCustomDevice: wrappers of C objects, and PD_BUILD_PHI_KERNEL.
// A source file takes these or those of paddle/phi/extension.h, whose classes have the same names.
#pragma once

#include "paddle/phi/capi/include/kernel_registry.h"
