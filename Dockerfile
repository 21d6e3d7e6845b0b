# The server in a container, on the CPU:
#     docker build -t seq2see .
#     docker run --rm -p 127.0.0.1:8000:8000 -v "$PWD/runs:/runs:ro" seq2see /runs/storybook
# It has not been built: where it was written there is no Docker.
FROM python:3.12-slim

WORKDIR /app
COPY . .
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends make \
    && make .venv/.installed-use \
    && useradd --create-home --uid 10001 seq2see
ENV PATH=/app/.venv/bin:$PATH

# What may not be written beside a model (its export for CTranslate2) goes to the cache.
USER seq2see
WORKDIR /home/seq2see
ENV HF_HUB_OFFLINE=1 HF_HUB_DISABLE_TELEMETRY=1
EXPOSE 8000
HEALTHCHECK --start-period=30s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/readyz')"]
ENTRYPOINT ["seq2see", "serve", "--host", "0.0.0.0"]
