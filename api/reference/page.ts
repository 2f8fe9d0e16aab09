// The reference as a page in which each route can be tried: one file, nothing from elsewhere.
import { createHash } from 'node:crypto'
import type { TSchema } from 'typebox'
import { paramNames } from '#api/http/route.ts'
import type { Route } from '#api/http/route.ts'
import { inWords, refusalsOf } from './openapi.ts'
import { pageScript, pageStyle } from './script.ts'

const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Only this script and this style, and requests to this server. */
export const pagePolicy = [
  "default-src 'none'",
  `script-src ${hashOf(pageScript)}`,
  `style-src ${hashOf(pageStyle)}`,
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function pageOf(routes: readonly Route[]): string {
  const sections = [...Map.groupBy(routes, ({ tag }) => tag)].map(
    ([tag, rows]) => `<h2>${escaped(tag)}</h2>\n${rows.map(entryOf).join('\n')}`,
  )
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>gslbd API</title>
<meta name="viewport" content="width=device-width"><style>${pageStyle}</style></head>
<body>
<h1>gslbd API</h1>
<p>Made from the same table as <a href="/api/v1/openapi.json">openapi.json</a>. Requests from this
page are real. Without a token the cookie of your session counts.</p>
<label>Key or token <input id="token" type="password" autocomplete="off" size="64"></label>
${sections.join('\n')}
<script>${pageScript}</script>
</body>
</html>
`
}

function entryOf(row: Route): string {
  const { method, path, summary, responses } = row
  const statuses = Object.entries(responses)
    .map(([status, { description }]) => `${status}: ${description}`)
    .concat(refusalsOf(row).map(String))
  const head = `<b>${method}</b> <code>${escaped(path)}</code> ${escaped(summary)}`
  return `<details><summary>${head}</summary>
<form data-method="${method}" data-path="${escaped(path)}">
<p>${escaped(inWords(row))} Answers: ${escaped(statuses.join(', '))}</p>
${inputsOf(row).join('\n')}
<button>Send</button> <output></output></form></details>`
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, TSchema & { readonly description?: string }>>
  readonly required?: readonly string[]
}

function inputsOf({ path, query, body }: Route): string[] {
  const inputs = paramNames(path).map(
    (name) => `<label>${name} <input name="path:${name}" required></label>`,
  )
  for (const name of Object.keys((query as ObjectSchema | undefined)?.properties ?? {})) {
    inputs.push(`<label>${escaped(name)} <input name="query:${escaped(name)}"></label>`)
  }
  if (body !== undefined) {
    inputs.push(`<label>Body <textarea name="body">${escaped(exampleOf(body))}</textarea></label>`)
    inputs.push(`<p>${fieldsOf(body)}</p>`)
  }
  return inputs
}

/** The required fields, empty. */
function exampleOf(body: TSchema): string {
  const { properties = {}, required = [] } = body as ObjectSchema
  const empty: Readonly<Record<string, unknown>> = { string: '', integer: 0, number: 0, array: [] }
  const fields = required.map((name) => {
    const { type } = (properties[name] ?? {}) as { readonly type?: string }
    return [name, empty[type ?? ''] ?? null]
  })
  return JSON.stringify(Object.fromEntries(fields), null, 2)
}

function fieldsOf({ properties = {}, required = [] }: ObjectSchema): string {
  return Object.entries(properties)
    .map(([name, { description = '' }]) => {
      const mark = required.includes(name) ? ' (required)' : ''
      return `<code>${escaped(name)}</code>${mark} ${escaped(description)}`
    })
    .join('<br>')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (sign) => entities[sign] ?? '')
