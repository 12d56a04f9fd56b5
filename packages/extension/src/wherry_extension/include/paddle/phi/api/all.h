// The name that other releases and the inference library give to paddle/extension.h.
#pragma once

#include "paddle/extension.h"
