// phi::dtype::float16.
#pragma once

#include "paddle/phi/common/data_type.h"
