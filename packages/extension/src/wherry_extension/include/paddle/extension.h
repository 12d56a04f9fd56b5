// All that a custom operator needs: tensors, functions on them, and the macros that build operators.
#pragma once

#include <algorithm>
#include <cmath>

#include "paddle/phi/api/ext/dispatch.h"
#include "paddle/phi/api/ext/exception.h"
#include "paddle/phi/api/ext/op_meta_info.h"
#include "paddle/phi/api/include/api.h"
#include "paddle/phi/api/include/context_pool.h"
#include "paddle/phi/api/include/tensor.h"
#include "paddle/phi/api/include/tensor_utils.h"
#include "paddle/phi/common/backend.h"
#include "paddle/phi/core/visit_type.h"
