"""chat_aio.store.maintenance"""
