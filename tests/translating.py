"""What a test does in the tab Translate, and reads there."""


def write(tab, text, *, key="Control+Enter"):
    """Have a text translated, and its words linked."""
    tab.locator("textarea.tr-text").fill(text)
    tab.keyboard.press(key) if key else tab.locator("#translate").click()
    tab.wait_for_function("""text => {
        const caption = document.querySelector('.tr-caption').textContent;
        return document.querySelector('.tr').dataset.busy === 'false' && caption && !caption.startsWith('Reading')
            && document.querySelector('textarea.tr-text').value === text; }""", arg=text)


def idle(tab):
    tab.wait_for_function("document.querySelector('.tr').dataset.busy === 'false'")


def shows(tab, text):
    tab.wait_for_function("text => document.querySelector('.tr-out').textContent === text", arg=text)


def read_out(tab):
    return tab.locator(".tr-out").inner_text()


def asked(tab):
    """What the page sends, from now on: the data of each question."""
    sent = []

    def note(request):
        if "/queue/join" in request.url:
            data = request.post_data_json.get("event_data")
            if isinstance(data, dict) and "text" in data:
                sent.append(data)

    tab.on("request", note)
    return sent
