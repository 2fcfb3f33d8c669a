# The dashboard:            docker build -t pmae .
# The same as a Ray node:   docker build -t pmae-ray --target ray .
# Smaller, for CPUs alone:  docker build -t pmae --build-arg TORCH_INDEX=https://download.pytorch.org/whl/cpu .

FROM python:3.11-slim AS build

# Without an index of its own pip takes torch's wheel with CUDA, which brings all it needs but the
# driver and runs on CPUs, too; the CPU build is much smaller. The lock files have the hashes of the
# wheels with CUDA, so with an index of its own only what requirements.txt names is pinned.
ARG TORCH_INDEX=

ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/pmae
ENV PATH=/opt/pmae/bin:$PATH

WORKDIR /src
COPY requirements.txt requirements.lock requirements-build.lock requirements-login.lock requirements-ray.lock ./
RUN if [ -n "$TORCH_INDEX" ]; then pip install --extra-index-url "$TORCH_INDEX" --requirement requirements.txt; \
    else pip install --require-hashes --requirement requirements.lock; fi
RUN pip install --require-hashes --requirement requirements-build.lock --requirement requirements-login.lock
COPY pyproject.toml README.md LICENSE ./
COPY pmae_core pmae_core
COPY dashboard dashboard
COPY pages pages
COPY benchmarks/results benchmarks/results
RUN pip install --no-deps --no-build-isolation .


FROM build AS build-ray

RUN pip install --require-hashes --requirement requirements-ray.lock


FROM python:3.11-slim AS base

ENV PATH=/opt/pmae/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PMAE_HOME=/data
RUN useradd --create-home --uid 1000 pmae \
    && install --directory --owner=pmae --group=pmae /data
USER 1000:1000
WORKDIR /home/pmae
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://localhost:8501/_stcore/health', timeout=4)"]
CMD ["pmae", "serve", "--address=0.0.0.0", "--port=8501", "--no-browser"]


FROM base AS ray

COPY --from=build-ray /opt/pmae /opt/pmae


FROM base AS dashboard

COPY --from=build /opt/pmae /opt/pmae
