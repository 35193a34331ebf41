/* A function of AWS Lambda that runs jobs (sandbox/remote/deploy/lambda_function.py). */
#ifndef SANDBOX_LAMBDA_H
#define SANDBOX_LAMBDA_H

#include "sandbox/backend.h"

extern const struct backend lambda_backend;

#endif
