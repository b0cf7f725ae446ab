"""chat_aio.schema"""
