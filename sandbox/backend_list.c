/*
 * The list of backends, and nothing else: a program that has its own list is
 * linked without this file.
 */
#include "sandbox/backend.h"

#include "sandbox/azure/azure.h"
#include "sandbox/docker/docker.h"
#include "sandbox/e2b/e2b.h"
#include "sandbox/http/http.h"
#include "sandbox/lambda/lambda.h"
#include "sandbox/microvm/microvm.h"
#include "sandbox/modal/modal.h"
#include "sandbox/native/native.h"
#include "sandbox/oci/oci.h"
#include "sandbox/pyodide/pyodide.h"
#include "sandbox/restricted/restricted.h"
#include "sandbox/ssh/ssh.h"

const struct backend *const backend_list[] = { &native_backend,	     &oci_backend,
					       &docker_backend,	     &microvm_backend,
					       &firecracker_backend, &ssh_backend,
					       &http_backend,	     &e2b_backend,
					       &lambda_backend,	     &azure_backend,
					       &modal_backend,	     &pyodide_backend,
					       &restricted_backend,  NULL };
