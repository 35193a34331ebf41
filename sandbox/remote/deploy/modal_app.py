# The web endpoint of --sandbox modal:URL. `modal deploy deploy/modal_app.py` in sandbox/remote prints its URL; a proxy
# auth token of the workspace is MODAL_KEY and MODAL_SECRET. No network, no secrets, one run at a time.
import modal

image = (modal.Image.debian_slim().pip_install("fastapi[standard]", "numpy", "pandas")
         .run_commands("mkdir -p /in /work /out").add_local_python_source("runner"))
app = modal.App("assay-run", image=image)


@app.function(timeout=300, memory=1024, block_network=True, max_inputs=1)
@modal.fastapi_endpoint(method="POST", label="assay-run", requires_proxy_auth=True)
def run(request: dict):
    import runner
    return runner.answer(request)
