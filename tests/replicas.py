"""A front and an engine in one process, with all that goes between them pickled, as Ray does it."""

import asyncio
import pickle

import cloudpickle

from seq2see.serve.replicated import Replica, Replicated


class Wired(Replicated):
    def __init__(self, models, settings):
        super().__init__(settings)
        self.replica = Replica(models, settings)
        self.models = asyncio.run(self._ask("describe"))  # and the server says when it is ready

    async def send(self, method, *arguments):
        sent = pickle.loads(cloudpickle.dumps(arguments))
        return pickle.loads(cloudpickle.dumps(await getattr(self.replica, method)(*sent)))

    def close(self):
        super().close()
        self.replica.service.close()
