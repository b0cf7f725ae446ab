# Exactly this version. To pin its contents as well, append the digest that
# `docker buildx imagetools inspect python:3.11.11-slim-bookworm` names: FROM ...@sha256:...
FROM python:3.11.11-slim-bookworm
WORKDIR /srv
COPY pyproject.toml README.md LICENSE requirements.txt ./
RUN pip install --no-cache-dir --require-hashes --requirement requirements.txt
COPY chat_aio chat_aio
COPY indexes indexes
RUN pip install --no-cache-dir --no-deps --no-build-isolation .
USER nobody
CMD ["chat-aio", "serve"]
