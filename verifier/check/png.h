/* Whether a file is a whole PNG. Inside verifier/ only. */
#ifndef VERIFIER_PNG_H
#define VERIFIER_PNG_H

#include <stddef.h>

/* NULL for a PNG whose chunks and checksums hold and whose data decodes to the
 * size its header states; else what is wrong: "is a PNG that was cut short". */
const char *png_fault(const unsigned char *bytes, size_t len);

#endif
