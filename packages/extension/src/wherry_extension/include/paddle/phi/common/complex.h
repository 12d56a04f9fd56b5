// phi::dtype::complex.
#pragma once

#include "paddle/phi/common/data_type.h"
