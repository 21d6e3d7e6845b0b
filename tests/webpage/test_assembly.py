"""The modules of the page fit together."""

from seq2see.lens.data.view_names import shown_texts
from seq2see.webpage import assembly


def test_scripts_import_what_is_exported_and_export_what_is_imported(root):
    """Else a name is undefined where it is first used, which may be in a menu that nobody opened, or nobody uses it."""
    scripts = {path.stem: path.read_text("utf-8") for path in root.glob("webpage/*/*.js")}
    exported = {(source, name) for source, text in scripts.items() for name in assembly.EXPORT.findall(text)}
    exported |= {("data", name) for name in assembly.shared_data(shown_texts())}
    imported = {(source, one.split(" as ")[0].strip()) for text in scripts.values()
                for names, source in assembly.IMPORT.findall(text) for one in names.split(",") if one.strip()}
    by_pages = {("explorer", "explorer"), ("file", "openFile"), ("worker", "answerIn"), ("packed", "unpacked"),
                ("packed", "unpackedParts")}
    by_users_of_the_network_alone = {("network", "mapsOf")}
    assert exported == imported | by_pages | by_users_of_the_network_alone
