# Copyright Spack Project Developers. See COPYRIGHT file for details.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack.package import *


class Topocast(Package):
    """Finds how a cluster is wired from message times, predicts transfers, and broadcasts along the wiring."""

    homepage = "https://github.com/topocast/topocast"
    url = "https://github.com/topocast/topocast/releases/download/v0.1.0/topocast-0.1.0.tar.gz"
    git = "https://github.com/topocast/topocast.git"

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("preload", default=True, description="Build the preloaded library for C, C++, Fortran and Python")

    depends_on("go@1.26:", type="build")
    depends_on("c", type="build", when="+preload")

    def install(self, spec, prefix):
        mkdirp(prefix.bin)
        go = which("go")
        with working_dir(self.stage.source_path):
            go("build", "-trimpath", "-o", join_path(prefix.bin, "topocast"), "./examples/topocast", extra_env={"CGO_ENABLED": "0"})
            if spec.satisfies("+preload"):
                make("preload")
                mkdirp(prefix.lib)
                install("libtopocast.so", prefix.lib)
                install("libtopocast.go.so", prefix.lib)
