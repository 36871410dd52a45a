"""Why a kernel is compiled as it is: records of plans and rejections, and reports made of them."""
