"""chat_aio.observability"""
