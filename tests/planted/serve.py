"""Slips in the server: batches, limits, keys, hosts, and what it says."""

import logging
from dataclasses import replace

from . import fault

ACCESS, CHECKS, HUGGINGFACE = "serve/test_access.py", "serve/test_request_checks.py", "serve/test_huggingface.py"


@fault("serve.batcher.Batcher.submit", "serve/test_batcher.py")
def requests_in_a_batch_share_the_options_of_the_first(original, self, work):
    return original(self, [(source, work[0][1]) for source, _ in work])


@fault("serve.access.AccessControl.check_rate", ACCESS)
def a_request_counts_as_one_text(original, self, caller, texts):
    original(self, caller, 1)


@fault("serve.access.RateLimit.take", ACCESS)
def a_wrong_key_costs_nothing(original, self, account, amount):
    original(self, account, 0 if self.code == "wrong_keys" else amount)


@fault("serve.request_checks.is_same_origin", CHECKS)
def a_neighbouring_site_is_the_same(original, request):
    return original(request) or request.headers.get("sec-fetch-site") == "same-site"


@fault("serve.settings.ServerSettings.hosts", ACCESS, CHECKS)
def this_machine_is_called_by_any_name(original, self, host):
    return original(self, "0.0.0.0")


@fault("serve.service.as_api_error", "serve/test_server.py")
def a_failure_is_logged_with_its_message(original, error):
    logging.getLogger("seq2see").error("a request failed: %s", error.__cause__ or error)
    return original(error)


@fault("serve.service.Service.named", HUGGINGFACE)
def an_unknown_model_is_any_model(original, self, model):
    return original(self, model if model in self.models else None)


@fault("serve.service.Service.translate_and_look", "serve/test_v1.py")
def looking_shows_the_best_whichever_was_asked_for(original, self, texts, *, alternative=0, **how):
    return original(self, texts, **how)


@fault("serve.dialects.huggingface.Parameters.options", HUGGINGFACE)
def max_length_does_not_count_the_start(original, self):
    options = original(self)
    return replace(options, max_new_tokens=options.max_new_tokens + 1) if self.max_length else options
