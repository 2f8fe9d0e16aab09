// What the reference page does in a browser: sends a form as a request and shows the answer.

/** Plain JavaScript, as the browser gets it. */
export const pageScript = `'use strict'
for (const form of document.querySelectorAll('form')) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const output = form.querySelector('output')
    const fields = new FormData(form)
    let path = form.dataset.path
    const query = new URLSearchParams()
    for (const [name, value] of fields) {
      if (name.startsWith('path:')) {
        path = path.replace('{' + name.slice(5) + '}', encodeURIComponent(value))
      } else if (name.startsWith('query:') && value !== '') query.set(name.slice(6), value)
    }
    const headers = {}
    const token = document.querySelector('#token').value
    if (token !== '') headers.authorization = 'Bearer ' + token
    const body = fields.get('body')
    if (body !== null) headers['content-type'] = 'application/json'
    output.textContent = '…'
    try {
      const search = query.size === 0 ? '' : '?' + query
      const answer = await fetch(path + search, { method: form.dataset.method, headers, body })
      const text = await answer.text()
      let shown = text
      try {
        shown = JSON.stringify(JSON.parse(text), null, 2)
      } catch {}
      output.textContent = answer.status + ' ' + answer.statusText + '\\n' + shown
    } catch (error) {
      output.textContent = String(error)
    }
  })
}
`

export const pageStyle = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto}
body{padding:0 1rem}
summary{cursor:pointer;padding:.3rem 0}
code,textarea,output,input{font-family:ui-monospace,monospace}
label{display:block;margin:.4rem 0}textarea{width:100%;height:8rem}
output{display:block;white-space:pre-wrap;overflow-wrap:anywhere;margin:.5rem 0}
details{border-bottom:1px solid #8884}form{padding:.5rem 1rem 1rem}
b{display:inline-block;min-width:4.5rem}:root{color-scheme:light dark}
`
