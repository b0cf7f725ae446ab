FROM python:3.11-slim
WORKDIR /srv
COPY pyproject.toml README.md LICENSE ./
COPY chat_aio chat_aio
COPY indexes indexes
RUN pip install --no-cache-dir ".[limits,logs,metrics]"
USER nobody
CMD ["chat-aio", "serve"]
