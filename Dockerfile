# The server in a container, on the CPU:
#     docker build -t seq2see .
#     docker run --rm -p 127.0.0.1:8000:8000 -v "$PWD/runs:/runs:ro" seq2see /runs/storybook
# With limits, keys and a read-only file system: docs/deploy/compose.yaml.
# Docker has not built this image yet. Its commands were run without Docker.
FROM python:3.14-slim AS build
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends make
WORKDIR /app
COPY . .
# Removes what no server needs: headers, test programs, tests, pip and uv.
RUN PIP_NO_CACHE_DIR=1 UV_NO_CACHE=1 make .venv/.installed-use \
    && .venv/bin/python -m pip uninstall --quiet --yes uv pip \
    && cd .venv/lib/python3*/site-packages \
    && rm -r torch/test && find torch/bin -type f ! -name torch_shm_manager -delete \
    && find . -type d \( -name tests -o -name include \) -prune -exec rm -r {} + \
    && /app/.venv/bin/python -c "import seq2see; seq2see.Translator.from_pretrained('everyday').look_at('A cat.', 'Un chat.')"

FROM python:3.14-slim
RUN useradd --create-home --uid 10001 seq2see
COPY --from=build /app /app
ENV PATH=/app/.venv/bin:$PATH HF_HUB_OFFLINE=1 HF_HUB_DISABLE_TELEMETRY=1
# If a model's folder is read-only, its export for CTranslate2 goes to the cache.
USER seq2see
WORKDIR /home/seq2see
EXPOSE 8000
HEALTHCHECK --start-period=30s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/readyz')"]
ENTRYPOINT ["seq2see", "serve", "--host", "0.0.0.0"]
