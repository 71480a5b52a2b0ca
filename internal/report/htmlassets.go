package report

// htmlStyle is the page's style sheet, in the system's colours and fonts.
const htmlStyle = `
:root { color-scheme: light dark; --create: #1a7f37; --change: #9a6700; --destroy: #cf222e; --hook: #1b7c83; --faint: #6e7781; --line: #d0d7de; --box: #f6f8fa }
@media screen and (prefers-color-scheme: dark) {
  :root { --create: #3fb950; --change: #d29922; --destroy: #f85149; --hook: #39c5cf; --faint: #8b949e; --line: #30363d; --box: #161b22 }
}
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 }
main { max-width: 72rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere }
h1 { font-size: 1.4rem; margin-bottom: 0 } h2 { font-size: 1.1rem; border-bottom: 1px solid var(--line) }
code, pre, .path { font-family: ui-monospace, monospace; font-size: .9em }
pre { background: var(--box); padding: .5rem; overflow-x: auto; margin: .3rem 0 }
ul { margin: .2rem 0; padding-left: 1.4rem }
.facts, .cause, small, pre i { color: var(--faint) } .verdict { font-weight: 600 } .dangers { color: var(--destroy) }
.note { display: grid; grid-template-columns: 7rem 1fr; margin: .2rem 0 } .note ul { margin: 0; padding: 0; list-style: none }
.note:not(.lines) li { display: inline } .note:not(.lines) li:not(:last-child)::after { content: ", " }
.box { border-left: 4px solid var(--change); background: var(--box); padding: .5rem 1rem; margin: .6rem 0 }
.blocking, .risks { border-color: var(--destroy) }
.entry { padding: .15rem 0; scroll-margin: 1rem } div.entry { padding-left: 1.1rem } summary { cursor: pointer }
.create code { color: var(--create) } .patch code, .replace code, .adopt code, .drift { color: var(--change) }
.delete code, .recreate code { color: var(--destroy) } .run code { color: var(--hook) }
table { border-collapse: collapse; margin: .3rem 0 .6rem 1rem } th { text-align: left; padding: 0 .8rem 0 0; overflow-wrap: normal } details > p { margin: .3rem 0 0 1rem } td { border-top: 1px solid var(--line); padding: .2rem .8rem .2rem 0; vertical-align: top } td > span, li { white-space: pre-wrap }
ins { color: var(--create); text-decoration: none } del { color: var(--destroy); text-decoration: none }
input { font: inherit; padding: .3rem .5rem; width: min(24rem, 60%) } button { font: inherit }
@media print { :root { color-scheme: light } .tools { display: none } main { max-width: none } pre { white-space: pre-wrap } h2, summary { break-after: avoid } }
`

// htmlSetStyle is added for the plan of a set.
const htmlSetStyle = `
table.set { margin-left: 0; width: 100% } .set .blocked td { background: var(--box) } .set .blocked td:nth-child(2) { color: var(--destroy) }
@media (min-width: 50rem) { table.set { overflow-wrap: break-word } }
.dangers { color: var(--destroy) } details.release { border-top: 1px solid var(--line); padding: .3rem 0; scroll-margin: 1rem }
`

// htmlScript is the page's script for searching and folding, and for printing all of it. It makes no requests.
const htmlScript = `
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const e of folded) { e.open = true; }
});
addEventListener("afterprint", () => { for (const e of folded) { e.open = false; } });
const entries = [...document.querySelectorAll(".entry")];
const search = document.getElementById("search");
if (search) {
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const e of entries) {
      const text = e.textContent.toLowerCase();
      e.hidden = !words.every(w => text.includes(w));
    }
    for (const s of document.querySelectorAll("section")) {
      s.hidden = words.length > 0 && !s.querySelector(".entry:not([hidden])");
    }
  });
  for (const [id, open] of [["open", true], ["close", false]]) {
    document.getElementById(id).addEventListener("click", () => {
      for (const e of document.querySelectorAll("details")) { e.open = open; }
    });
  }
}
`
