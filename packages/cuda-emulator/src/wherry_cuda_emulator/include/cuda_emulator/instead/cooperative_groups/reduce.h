// `reduce` is in the one header.
#include <cooperative_groups.h>
