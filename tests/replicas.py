"""A front and an engine in one process, with all that goes between them pickled, as Ray does it; and what any server
refuses, wherever its engine is.
"""

import asyncio
import pickle

import cloudpickle

from seq2see.serve.errors import APIError
from seq2see.serve.replicated import Replica, Replicated

TEXT = "The cat did not cross."
REFUSALS = [  # path, body, status and how the error begins
    ("/translate", {"q": TEXT, "source": "en", "target": "zz"}, 400, "zz is not supported"),
    ("/translate", {"source": "en", "target": "fr"}, 400, "q: missing"),
    ("/", {"inputs": "x" * 5001}, 400, "a text has 5001 characters: at most 5000 are allowed"),
    ("/v1/translate", {"texts": [TEXT], "num_beams": 2, "temperature": 1.0}, 400, "num_beams 2: sampling"),
    ("/v1/translate", {"texts": [TEXT], "model": "other"}, 404, "unknown model"),
    ("/v1/look", {"text": " "}, 400, "the text has no words"),
]  # fmt: skip


class Wired(Replicated):
    def __init__(self, models, settings):
        super().__init__(settings)
        self.replica = Replica(models, settings)
        self.models = asyncio.run(self.send("describe"))  # and the server says when it is ready

    async def send(self, method, *arguments, **asked):
        arguments, asked = pickle.loads(cloudpickle.dumps((arguments, asked)))
        try:
            return pickle.loads(cloudpickle.dumps(await getattr(self.replica, method)(*arguments, **asked)))
        except APIError as error:
            raise pickle.loads(pickle.dumps(error)) from None

    def close(self):
        super().close()
        self.replica.service.close()
