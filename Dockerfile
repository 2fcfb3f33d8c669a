FROM python:3.11-slim

# Prefer the much smaller CPU build of torch; build with --build-arg PIP_EXTRA_INDEX_URL= for CUDA.
ARG PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu

ENV PYTHONUNBUFFERED=1 \
    PYTHONPATH=/app \
    PMAE_HOME=/data

RUN useradd --create-home --uid 1000 pmae \
    && mkdir /data && chown pmae:pmae /data

WORKDIR /app
COPY requirements.txt .
RUN pip install --no-cache-dir --disable-pip-version-check -r requirements.txt

COPY .streamlit .streamlit
COPY pmae_core pmae_core
COPY dashboard dashboard
COPY pages pages
COPY benchmarks/results benchmarks/results

USER pmae
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://localhost:8501/_stcore/health', timeout=4)"]

CMD ["python", "-m", "streamlit", "run", "dashboard/app.py", "--server.headless=true", "--server.address=0.0.0.0", "--server.port=8501"]
