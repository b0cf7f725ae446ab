"""chat_aio.server"""
