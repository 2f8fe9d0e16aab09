// The table of metrics as a page for people.
import { metricRows } from '#metrics/table.ts'

/** docs/reference/metrics.md. */
export function metricsReference(): string {
  const rows = metricRows.map(({ name, type, labels, help }) => {
    const cells = [`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(', '), help]
    return `| ${cells.join(' | ')} |`
  })
  const head = ['| Name | Type | Labels | Meaning |', '| --- | --- | --- | --- |']
  return [intro, '', ...head, ...rows, ''].join('\n')
}

const intro = `# Metrics

<!-- Generated from metrics/table.ts.
     Rewrite with: GSLBD_UPDATE=1 npx vitest run test/unit/metrics -->

\`GET /metrics\` on the API's address, in Prometheus' text format. Counters count from the start of
the process. A metric without a sample is not known yet. No client can add a series: names of types
and codes outside the known ones count as \`other\`. Beside these stand the \`process_*\` and
\`nodejs_*\` metrics of the main thread's process.`
