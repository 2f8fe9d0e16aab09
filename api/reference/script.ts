// The browser script and style of the reference page, beside Swagger UI: curl samples, and a search
// over routes.

/** Stands for the origin in the samples of the document; the page replaces it by its own. */
export const sampleOrigin = 'http://127.0.0.1:8080'

/** Plain JavaScript, sent as it is. */
export const pageScript = `'use strict'
const place = document.querySelector('#reference')

// Adds samples to the descriptions: Swagger UI itself shows none before a request was sent.
function withSamples(spec) {
  for (const operations of Object.values(spec.paths)) {
    for (const operation of Object.values(operations)) {
      for (const { source } of operation['x-codeSamples'] ?? []) {
        const sample = source.replaceAll('${sampleOrigin}', location.origin)
        operation.description += '\\n\\n\`\`\`sh\\n' + sample + '\\n\`\`\`'
      }
    }
  }
  return spec
}

// Removes links to files: descriptions of fields are also used in docs/, where these lead
// somewhere.
function withoutFileLinks(key, value) {
  if (key !== 'description' || typeof value !== 'string') return value
  return value.replace(/ ?\\[[^\\]]*\\]\\(\\.\\.\\/[^)]*\\)\\.?/g, '')
}

// All text by which a reader may search; every word must occur.
function entryText(path, method, operation, tag) {
  const text = [tag, method, path, JSON.stringify(operation)]
  return text.join(' ').toLowerCase()
}

function search() {
  const known = new Map()
  const textOf = (entry, tag) => {
    const key = entry.get('method') + ' ' + entry.get('path')
    if (!known.has(key)) {
      known.set(key, entryText(entry.get('path'), entry.get('method'), entry.get('operation'), tag))
    }
    return known.get(key)
  }
  return (tags, phrase) => {
    const words = phrase.toLowerCase().split(/\\s+/).filter(Boolean)
    const fits = (entry, tag) => words.every((word) => textOf(entry, tag).includes(word))
    return tags
      .map((one, tag) => one.update('operations', (all) => all.filter((op) => fits(op, tag))))
      .filter((one) => one.get('operations').size > 0)
  }
}

// Names the search field: the library says "Filter by tag or path", and has no setting for it.
function nameSearch() {
  const observer = new MutationObserver(() => {
    const input = place.querySelector('.operation-filter-input')
    if (input === null) return
    observer.disconnect()
    input.placeholder = 'Search: words of a route, its fields, its path'
  })
  observer.observe(place, { childList: true, subtree: true })
}

async function show() {
  const answer = await fetch('/api/v1/openapi.json')
  if (!answer.ok) throw new Error('openapi.json is answered with ' + answer.status)
  const spec = JSON.parse(await answer.text(), withoutFileLinks)
  nameSearch()
  SwaggerUIBundle({
    domNode: place,
    spec: withSamples(spec),
    plugins: [() => ({ fn: { opsFilter: search() } })],
    validatorUrl: null,
    filter: true,
    deepLinking: true,
    docExpansion: 'list',
    displayRequestDuration: true,
    defaultModelRendering: 'model',
    defaultModelExpandDepth: 4,
  })
}

show().catch((error) => {
  place.textContent = 'The reference cannot be shown: ' + error.message
})
`

export const pageStyle = `body{margin:0}
#reference:not(:has(.swagger-ui)){font:16px/1.5 system-ui,sans-serif;padding:2rem}
noscript{display:block;font:16px/1.5 system-ui,sans-serif;padding:2rem}
.swagger-ui .topbar{display:none}
`
