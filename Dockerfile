# Exactly this version. To pin its contents as well, append the digest that
# `docker buildx imagetools inspect python:3.11.11-slim-bookworm` names: FROM ...@sha256:...
FROM python:3.11.11-slim-bookworm
WORKDIR /srv
COPY pyproject.toml README.md LICENSE requirements.txt ./
# Without Pillow, so that the image stays small: the plugin Attachments then makes no thumbnails
# (docs/operations/deployment.md, Image).
RUN pip install --no-cache-dir --require-hashes --requirement requirements.txt
COPY chat_aio chat_aio
COPY indexes indexes
RUN pip install --no-cache-dir --no-deps --no-build-isolation .
# Of a container, as all addresses of it: what may reach it is said when it is run.
ENV CHAT_AIO_HOST=0.0.0.0 CHAT_AIO_PORT=8080
EXPOSE 8080
# nobody, as a number: Kubernetes cannot know by a name that it is not root.
USER 65534:65534
# A database that is away is no reason to restart: that would be /readyz.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ['CHAT_AIO_PORT'] + '/healthz', timeout=4)"]
CMD ["chat-aio", "serve"]
