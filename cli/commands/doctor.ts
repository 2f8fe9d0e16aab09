// `gslbd doctor`: checks this machine for what would keep a node from working, and says what to do.
import { parseArgs } from 'node:util'
import { checks } from '#cli/doctor/checks.ts'
import { bad } from '#cli/doctor/check.ts'
import type { Check, Finding, CheckedNode, Verdict } from '#cli/doctor/check.ts'
import { storedZones } from '#cli/doctor/stored-zones.ts'
import { settingsFor } from '#cli/files/settings-file.ts'
import { Exit } from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'
import { painterOf, plain, columns, strong } from '#cli/terminal/paint.ts'
import type { Paint, Row, Tone } from '#cli/terminal/paint.ts'

const usage = `Usage: gslbd doctor [--settings FILE] [--json]

Looks on this machine for what keeps a node from starting or from being asked: its settings, ports,
disk, backups, journal, keys and their permissions, trust, repository, sources of bundles, database
and Redis, answers over UDP and TCP, the delegation of its zones, announced addresses, clock, limits
and memory. Each finding is good, warning, bad or unknown, with what to do. Nothing is changed. Run
it as the user of the node, with its environment, while it runs or before.

  --settings FILE   the settings of the node; without it, the defaults
  --data-dir PATH   its data directory, where the settings do not say it
  --json            prints a list of {check, verdict, found, todo}

Exit codes: 0 nothing is bad; 1 something is, or the settings cannot be read; 2 wrong call.`

const options = {
  settings: { type: 'string' },
  'data-dir': { type: 'string' },
  json: { type: 'boolean', default: false },
} as const
/** Time for one answer of the network. */
const patienceMs = 5_000

export const doctor: Command = {
  name: 'doctor',
  usage,
  async run(args, io) {
    const { values } = parseArgs({ args: [...args], options })
    const flags = { 'data-dir': values['data-dir'] }
    const settings = settingsFor(io, values.settings, flags)
    const node = { settings, env: io.env, zones: storedZones(settings.dataDir), patienceMs }
    const findings: Named[] = []
    // Checks run one after the other, since some take ports that others probe.
    for (const check of checks) {
      io.progress?.(`looking at ${check.name}`)
      for (const finding of await looked(check, node)) {
        findings.push({ check: check.name, ...finding, found: plain(finding.found) })
      }
    }
    const text = values.json
      ? `${JSON.stringify(findings, null, 2)}\n`
      : printFindings(findings, painterOf(io))
    io.out(text)
    return findings.some(({ verdict }) => verdict === 'bad') ? Exit.ErrorsFound : Exit.Ok
  },
}

/** A check that fails by itself must not hide the findings of others. */
async function looked({ look }: Check, node: CheckedNode): Promise<readonly Finding[]> {
  try {
    return await look(node)
  } catch (error) {
    return [bad(`it cannot be checked: ${(error as Error).message}`, 'see what the message names')]
  }
}

interface Named extends Finding {
  readonly check: string
}

const toneOf: Readonly<Record<Verdict, Tone>> = {
  good: 'good',
  warning: 'warning',
  bad: 'bad',
  unknown: 'quiet',
}

function printFindings(findings: readonly Named[], paint: Paint): string {
  let last = ''
  const rows = findings.flatMap(({ check, verdict, found, todo }): Row[] => {
    const title = strong(check === last ? '' : check)
    last = check
    const row: Row = [title, { text: verdict, tone: toneOf[verdict] }, found]
    return todo === undefined ? [row] : [row, ['', '', strong(`  ${todo}`)]]
  })
  const count = (verdict: Verdict): number =>
    findings.filter((finding) => finding.verdict === verdict).length
  const warnings = count('warning') === 1 ? '1 warning' : `${count('warning')} warnings`
  const sum = `${count('bad')} bad, ${warnings}, ${count('unknown')} unknown`
  return `${columns(rows, paint).join('\n')}\n\n${sum}\n`
}
