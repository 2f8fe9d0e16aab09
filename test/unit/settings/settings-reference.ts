// The settings schema as a page for people and as JSON Schema for editors.
import { overrides } from '#settings/settings.ts'
import { ignoredSettings, SettingsFile, repositoryKeys, settingRows } from '#settings/schema.ts'
import type { SettingRow } from '#settings/schema.ts'
import { expected } from '#settings/value.ts'

/** schemas/json/gslbd-settings.schema.json. */
export function settingsJsonSchema(): string {
  const head = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'gslbd-settings.schema.json',
  }
  return `${JSON.stringify({ ...head, ...SettingsFile }, undefined, 2)}\n`
}

/** docs/reference/settings.md. */
export function settingsReference(): string {
  const sections = new Map<string, SettingRow[]>()
  for (const row of settingRows) {
    const section = row.path.slice(0, -1).join('.')
    sections.set(section, [...(sections.get(section) ?? []), row])
  }
  const tables = [...sections].map(([section, rows]) => {
    const title = section === '' ? '## Top level' : `## \`${section}\``
    return [title, '', ...table(heading, rows.map(cells))].join('\n')
  })
  return [intro, ...tables, ignored(), outside(), elsewhere()].join('\n\n') + '\n'
}

const intro = `# Settings

<!-- Generated from settings/schema.ts.
     Rewrite with: GSLBD_UPDATE=1 npx vitest run test/unit/settings -->

A node reads one file, \`gslbd.yaml\` (\`gslbd serve --settings FILE\`). Every key has a default, so
an empty file is valid. An unknown key is an error. For completion in an editor, begin the file with

    # yaml-language-server: $schema=schemas/json/gslbd-settings.schema.json

A flag wins over an environment variable, that over the file, and the file over the default. A
relative path in the file is relative to the file; in a flag or a variable it is relative to the
working directory. A duration is a number with a unit:
\`500ms\`, \`30s\`, \`5m\`, \`24h\`, \`1h30m\`.

SIGHUP reads the file again. Changes to keys marked "SIGHUP" apply at once; the others are named in
the log and wait for a restart.`

const heading = ['Key', 'Value', 'Default', 'Change needs', 'Meaning']

function cells({ path, leaf }: SettingRow): readonly string[] {
  const { default: value = '' } = leaf
  const words = typeof value === 'object' ? listed(value) : String(value)
  const constant = words === '' ? 'empty' : `\`${words}\``
  return [
    `\`${path.at(-1) ?? ''}\``,
    expected(leaf),
    leaf['x-default'] ?? constant,
    leaf['x-reload'] === true ? 'SIGHUP' : 'restart',
    leaf.description,
  ]
}

function ignored(): string {
  const rows = Object.entries(ignoredSettings).map(([key, why]) => [`\`${key}\``, why])
  return ['## Accepted and ignored', '', ...table(['Key', 'Why'], rows)].join('\n')
}

function outside(): string {
  const rows = overrides.map(({ key, env, flag }) => [
    `\`${key}\``,
    `\`${env}\``,
    flag === undefined ? '' : `\`--${flag}\``,
  ])
  return [
    '## Outside the file',
    '',
    ...table(['Key', 'Environment variable', 'Flag'], rows),
    '',
    'These have no key in the file:',
    '',
    ...table(['Environment variable', 'Meaning'], environmentOnly),
  ].join('\n')
}

const environmentOnly: readonly (readonly string[])[] = [
  [
    '`GSLB_API_KEY`',
    "The system key. Without it every request is the system administrator's. " +
      '[More](../operations/access.md).',
  ],
  [
    '`GSLB_SECRET_KEY`',
    '64 hexadecimal digits: the key under which second factors and TSIG keys are stored. A node ' +
      'with accounts that have such factors does not start with another or none.',
  ],
  [
    '`GSLB_BUNDLE_TOKEN`',
    'What nodes that pull bundles show, and what a control node asks of them. ' +
      '[More](../operations/fleet.md). The secrets of [DNS cookies](../operations/cookies.md) ' +
      'are made of one of 32 characters or more.',
  ],
  [
    '`GSLB_NODE_TOKEN`',
    'On a node that pulls: what it signs with what it tells of itself, by `gslbd node add`. ' +
      '[More](../operations/fleet.md#which-nodes-count).',
  ],
  [
    '`GSLB_METRICS_TOKEN`',
    'What a scraper shows as a bearer token: it opens `/metrics`, and nothing else. 16 characters or more.',
  ],
  [
    '`GSLB_WEBHOOK_SECRET`',
    'What a forge signs its webhooks with, which have the node look at its branch at once. ' +
      '16 characters or more. [More](../operations/trust.md).',
  ],
  [
    '`GSLB_WEBHOOK_SECRET_FILE`',
    'Absolute path of a file that has that secret, ' +
      'for platforms that hand secrets over as files. Read at the start.',
  ],
  [
    '`GSLB_AUDIT_LOG`',
    'Absolute path of the audit log. Without it the entries are in the main log, with ' +
      '`"audit":true`.',
  ],
  [
    '`GSLB_LICENSE_KEY`',
    'A licence token, before one applied over the API and that of `license.key`. ' +
      '[More](../operations/license.md).',
  ],
]

function elsewhere(): string {
  const list = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')
  return `## In the repository

Settings that change answers are the same for all nodes, in \`gslb.yaml\`:
${list(repositoryKeys)}. [Configuration](configuration.md) says more.`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)]
}

const listed = (values: object): string =>
  Object.values(values as Readonly<Record<string, string>>).join(', ')
