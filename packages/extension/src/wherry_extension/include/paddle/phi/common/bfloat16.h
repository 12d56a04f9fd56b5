// phi::dtype::bfloat16.
#pragma once

#include "paddle/phi/common/float16.h"
