// Chooses the text format of the metrics by the header Accept, and rewrites one as the other.

export type MetricsForm = 'prometheus' | 'openmetrics'

export const contentTypes: Readonly<Record<MetricsForm, string>> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
}

const openType = 'application/openmetrics-text'
/** Characters that are looked at. */
const acceptMax = 2_000

/** OpenMetrics goes only to clients that name it, and prefer it to plain text. */
export function formFor(accept: string | undefined): MetricsForm {
  const wishes = (accept ?? '').slice(0, acceptMax).split(',').map(wishIn)
  const open = weightOf(wishes, openType)
  return open > 0 && open >= weightOf(wishes, 'text/plain') ? 'openmetrics' : 'prometheus'
}

interface Wish {
  readonly type: string
  readonly weight: number
}

/** RFC 9110 section 12.5.1. */
function wishIn(part: string): Wish {
  const [type = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
  const q = parameters.find((text) => text.startsWith('q='))
  const weight = q === undefined ? 1 : Number(q.slice(2))
  return { type, weight: weight >= 0 && weight <= 1 ? weight : 0 }
}

const weightOf = (wishes: readonly Wish[], type: string): number =>
  Math.max(0, ...wishes.filter((one) => one.type === type).map(({ weight }) => weight))

/**
 * Rewrites text in the format of Prometheus as OpenMetrics 1.0: a family of counters has a name
 * without `_total`, no line is empty, and the end is marked.
 */
export function asOpenMetrics(text: string): string {
  const counters = new Set<string>()
  for (const [, name = ''] of text.matchAll(/^# TYPE (\S+)_total counter$/gm)) counters.add(name)
  const lines = text.split('\n').flatMap((line) => {
    if (line === '') return []
    const [, keyword = '', name = '', rest = ''] =
      /^# (HELP|TYPE) (\S+)_total (.*)$/.exec(line) ?? []
    return counters.has(name) ? [`# ${keyword} ${name} ${rest}`] : [line]
  })
  return `${lines.join('\n')}\n# EOF\n`
}
