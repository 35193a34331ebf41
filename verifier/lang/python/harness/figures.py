# Figures that are only shown become files in /out, as somebody would have seen them in a
# window. The interpreter imports this before the program (as sitecustomize), and nothing
# happens until the program imports matplotlib.pyplot. What is saved by the program itself
# is not saved again. It is a convenience of the program's own side: nothing is decided by it.
import sys


class _Finder:
    def find_spec(self, name, path=None, target=None):
        if name != "matplotlib.pyplot":
            return None
        sys.meta_path.remove(self)
        from importlib.util import find_spec
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                _replace(module)

            spec.loader.exec_module = exec_module
        return spec


def _replace(pyplot):
    import os
    import weakref

    kept = weakref.WeakSet()
    figure_class = pyplot.Figure
    save = figure_class.savefig

    def savefig(self, *args, **options):
        kept.add(self)
        return save(self, *args, **options)

    def keep(figure):
        number = 1
        while os.path.exists(f"/out/figure-{number}.png"):
            number += 1
        if figure not in kept:
            figure.savefig(f"/out/figure-{number}.png")

    def show(*args, **options):
        for number in pyplot.get_fignums():
            keep(pyplot.figure(number))

    figure_class.savefig = savefig
    figure_class.show = lambda self, *args, **options: keep(self)
    pyplot.show = show


sys.meta_path.insert(0, _Finder())
