#!/usr/bin/env python3
"""Opens a page of `pmodel report --as page` in headless Chromium, through chromedriver, does with it what a reader
does, and prints what was seen, as JSON:  tests/browser.py PAGE SIZE [SCREENSHOT]

SIZE, "N=80", is one of -P, whose rows are printed as the table shows them."""
import base64
import json
import os
import re
import subprocess
import sys
import time
import urllib.request


class Browser:
    def __init__(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.driver.stdout:
            found = re.search(r"successfully on port (\d+)", line)
            if found:
                break
        self.url = f"http://127.0.0.1:{found.group(1)}/session"
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,1000"]}
        session = self.ask("", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.url += "/" + session["sessionId"]

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def run(self, script, *arguments):
        return self.ask("/execute/sync", {"script": script, "args": list(arguments)})

    def find(self, selector):
        return next(iter(self.ask("/element", {"using": "css selector", "value": selector}).values()))

    def click(self, selector):
        self.ask(f"/element/{self.find(selector)}/click", {})

    def press(self, selector, key):
        """KEY as WebDriver names it, on what SELECTOR finds."""
        self.ask(f"/element/{self.find(selector)}/value", {"text": key})

    def command(self, name, **parameters):
        return self.ask("/goog/cdp/execute", {"cmd": name, "params": parameters})

    def end(self):
        try:
            self.ask_delete()
        finally:
            self.driver.terminate()
            self.driver.wait()

    def ask_delete(self):
        urllib.request.urlopen(urllib.request.Request(self.url, method="DELETE"), timeout=60).close()


LEFT, UP, RIGHT, DOWN = "\ue012", "\ue013", "\ue014", "\ue015"
ROWS = "return [...document.querySelectorAll('#table tbody tr')].map(r => [...r.cells].map(c => c.textContent.replace(/^[▸▾]/, '')))"
HEADS = "return [...document.querySelectorAll('#table th')].map(c => c.textContent.replace(/ [▾▴]$/, ''))"
CHOSEN = "return document.querySelector('#table tr[aria-selected=true]')?.dataset.row ?? null"
TEXT = "return document.querySelector(arguments[0]).textContent"


def at_width(browser, width):
    browser.command("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 600)
    time.sleep(0.3)
    return browser.run("return [document.documentElement.scrollWidth, innerWidth]")


def look(browser, path, size, screenshot):
    seen = {}
    browser.ask("/url", {"url": "file://" + os.path.abspath(path)})
    for _ in range(200):
        ready = browser.run("return document.documentElement.dataset.ready ?? null")
        if ready is not None:
            break
        time.sleep(0.05)
    seen["ready_ms"] = None if ready is None else int(ready)
    seen["headline"] = browser.run(TEXT, "#headline")
    seen["warnings"] = browser.run("return document.querySelectorAll('#warnings li').length")
    seen["requests"] = browser.run("return performance.getEntriesByType('resource').map(r => r.name)")
    seen["pictures"] = browser.run("return [...document.querySelectorAll('#pictures svg[role=img]')].map(s => s.getAttribute('aria-label'))")
    seen["captions"] = browser.run("return document.querySelectorAll('#pictures figcaption').length")
    seen["lines"] = browser.run("return [...document.querySelectorAll('#source .in')].map(l => l.textContent)")
    seen["unlabelled"] = browser.run("return [...document.querySelectorAll('input, select')].filter(e => !e.labels.length).length")

    # The size of -P, as rows without a tree.
    browser.run("[...document.querySelectorAll('#given button')].find(b => b.textContent === arguments[0]).click()", size)
    browser.click("#tree")
    seen["size"] = browser.run(TEXT, "#size-text")
    seen["heads"], seen["rows"] = browser.run(HEADS), browser.run(ROWS)

    # Sorting.
    browser.click('[data-sort="self_seconds"]')
    seen["descending"] = browser.run(ROWS)
    browser.click('[data-sort="self_seconds"]')
    seen["ascending"] = browser.run(ROWS)
    browser.click('[data-sort="label"]')
    seen["by_name"] = browser.run(ROWS)

    # The slider, by keyboard and one end to the other.
    before = browser.run(TEXT, "#headline")
    browser.press("#size", RIGHT)
    seen["slid"] = [before, browser.run(TEXT, "#headline")]
    started = time.time()
    stops = int(browser.run("return document.getElementById('size').max"))
    seen["sizes"] = browser.run("""const all = [], size = document.getElementById('size');
        for (let i = 0; i <= arguments[0]; i++) {
            size.value = i; size.dispatchEvent(new Event('input'));
            all.push(document.getElementById('size-text').textContent); }
        return all""", stops)
    seen["slide_ms"] = 1000 * (time.time() - started) / (stops + 1)

    # Machines.
    headlines = []
    for i in range(browser.run("return document.getElementById('machine').options.length")):
        browser.run("""const m = document.getElementById('machine'); m.value = arguments[0];
            m.dispatchEvent(new Event('change'))""", i)
        headlines.append([browser.run(TEXT, "#headline"), browser.run(HEADS)])
    seen["machines"] = headlines

    # The tree, by keyboard.
    browser.click("#tree")
    chosen = '#table tr[tabindex="0"]'
    browser.click("#table tbody tr[aria-expanded]")
    first = browser.run(CHOSEN)
    browser.press(chosen, DOWN)
    second = browser.run(CHOSEN)
    browser.press(chosen, UP)
    seen["moved"] = [first, second, browser.run(CHOSEN)]
    n = len(browser.run(ROWS))
    browser.press(chosen, LEFT)
    closed = len(browser.run(ROWS))
    browser.press(chosen, RIGHT)
    seen["closing"] = [n, closed, len(browser.run(ROWS))]

    # Widths, and colours.
    seen["widths"] = {width: at_width(browser, width) for width in (360, 1000, 2560)}
    if screenshot:
        at_width(browser, 1400)
        with open(screenshot, "wb") as out:
            out.write(base64.b64decode(browser.ask("/screenshot")))
    colours = {}
    for scheme in ("light", "dark"):
        browser.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        colours[scheme] = browser.run("return ['backgroundColor', 'color'].map(c => getComputedStyle(document.body)[c])")
    seen["colours"] = colours
    seen["console"] = [entry["message"] for entry in browser.ask("/se/log", {"type": "browser"})]
    return seen


def main():
    browser = Browser()
    try:
        print(json.dumps(look(browser, sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)))
    finally:
        browser.end()


main()
