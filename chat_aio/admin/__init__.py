"""chat_aio.admin"""
