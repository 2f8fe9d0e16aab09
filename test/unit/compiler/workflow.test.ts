// The actions, workflows and scripts that configuration repositories use: pinned, with few rights,
// and their steps run as a shell would, in a clean clone.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { cityDatabase, operatorDatabase } from '#test/support/geo-site.ts'
import { gitEnvironment, gitSandbox } from '#test/support/git-sandbox.ts'

const root = join(import.meta.dirname, '../../..')
const scratch = mkdtempSync(join(tmpdir(), 'gslbd-workflow-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

interface Step {
  readonly name?: string
  readonly uses?: string
  readonly run?: string
  readonly env?: Readonly<Record<string, string>>
  readonly with?: Readonly<Record<string, string>>
}
interface Workflow {
  readonly on: { readonly workflow_call?: { readonly inputs: object } }
  readonly permissions: object
  readonly jobs: Readonly<Record<string, { permissions?: object; steps: readonly Step[] }>>
}
interface Action {
  readonly inputs: object
  readonly runs: { readonly steps: readonly Step[] }
}

const read = (path: string): unknown => parse(readFileSync(join(root, path), 'utf8'))
const stepsOf = (path: string): readonly Step[] => {
  const value = read(path) as Workflow & Action
  return path.endsWith('action.yml')
    ? value.runs.steps
    : Object.values(value.jobs).flatMap(({ steps }) => steps)
}

const inputsOf = (path: string): object => {
  const value = read(path) as Workflow & Action
  return path.endsWith('action.yml') ? value.inputs : (value.on.workflow_call?.inputs ?? {})
}

const plan = '.github/actions/gslbd-plan/action.yml'
const attest = '.github/actions/gslbd-attest/action.yml'
const reusable = '.github/workflows/validate-config.yml'
const [first, second] = ['plan', 'comment'].map(
  (name) => `examples/review/.github/workflows/${name}.yml`,
) as [string, string]

describe.each([plan, attest, reusable, first, second])('%s', (path) => {
  test('pins every action of others to a commit', () => {
    const used = stepsOf(path).flatMap(({ uses }) => uses ?? [])
    expect(used.length).toBeGreaterThan(0)
    for (const action of used) {
      const isOurs = action.startsWith('./.gslbd/') || action.startsWith('OWNER/gslbd/')
      if (!isOurs) expect(action).toMatch(/^[\w./-]+@[0-9a-f]{40}$/)
    }
  })

  test('pastes nothing into a shell', () => {
    for (const { run } of stepsOf(path)) expect(run ?? '').not.toContain('${{')
  })
})

test('a pull request of a fork is reviewed with a token that reads, and no secret', () => {
  const { permissions, jobs } = read(first) as Workflow
  expect(permissions).toEqual({ contents: 'read' })
  expect(Object.values(jobs).map((job) => job.permissions)).toEqual([undefined])
  expect(readFileSync(join(root, first), 'utf8')).not.toMatch(
    /\{\{[^}]*secrets|pull_request_target/,
  )
})

test('the commenting workflow checks out nothing of the pull request', () => {
  const { permissions } = read(second) as Workflow
  expect(permissions).toEqual({ actions: 'read', 'pull-requests': 'write', statuses: 'write' })
  const text = readFileSync(join(root, second), 'utf8')
  expect(text.match(/repository: .*/g)).toEqual(['repository: OWNER/gslbd'])
  expect(text).not.toMatch(/ref: .*head/)
})

/** The program as an action has it: its repository, and packages that were installed. */
function actionPath(of: string): string {
  const folder = mkdtempSync(join(scratch, 'action-'))
  for (const name of ['.github', 'deploy', 'bin']) {
    cpSync(join(root, name), join(folder, name), { recursive: true })
  }
  const rest = execFileSync('ls', ['-A', root], { encoding: 'utf8' }).trim().split('\n')
  for (const name of rest) {
    if (!['.github', 'deploy', 'bin', '.git'].includes(name)) {
      symlinkSync(join(root, name), join(folder, name))
    }
  }
  return join(folder, dirname(of))
}

/** Runs the command of one step as the runner does. */
function runStep(of: string, name: string, cwd: string, env: Readonly<Record<string, string>>) {
  const command = stepsOf(of).find((step) => step.name === name)?.run ?? 'exit 99'
  const { status, stdout, stderr } = spawnSync('bash', ['-e', '-o', 'pipefail', '-c', command], {
    cwd,
    encoding: 'utf8',
    env: {
      ...{ PATH: process.env['PATH'], HOME: scratch, GITHUB_ACTION_PATH: actionPath(of) },
      ...gitEnvironment,
      ...env,
    },
  })
  return { status, out: stdout, err: stderr }
}

/** A clean clone of the example, with a change on a branch. */
function scene() {
  const box = gitSandbox()
  const [alice, robot] = [box.sshKey('alice'), box.sshKey('robot')]
  const signers = box.write(
    'allowed_signers',
    `alice@example.com namespaces="git" ${alice.publicLine}\n` +
      `robot@example.com namespaces="gslb-attest" ${robot.publicLine}\n`,
  )
  const origin = box.at('origin')
  mkdirSync(origin)
  cpSync(join(root, 'examples/review'), origin, { recursive: true })
  box.git(origin, 'init', '-q', '-b', 'main')
  const commit = (how: 'signed' | 'unsigned' = 'signed'): string => {
    box.git(origin, 'add', '-A')
    const sign = how === 'signed' ? ['-S'] : []
    box.git(origin, ...box.signWith(alice), 'commit', '-q', '--allow-empty', '-m', 'x', ...sign)
    return box.git(origin, 'rev-parse', 'HEAD')
  }
  const base = commit()
  const clone = (): string => {
    const path = mkdtempSync(join(scratch, 'clone-'))
    box.git(box.path, 'clone', '-q', origin, path)
    return path
  }
  return { box, origin, signers, alice, robot, commit, base, clone }
}

describe('the action that plans', () => {
  test.each([
    ['risky', 3, /beyond a guardrail/],
    ['broken', 1, /^::error file=tenants\/default\/services\/shop\.yaml,line=5,/m],
  ] as const)('reviews the change "%s" of the example', (name, status, said) => {
    const { box, origin, signers, commit, base, clone } = scene()
    box.git(origin, 'apply', join('changes', `${name}.patch`))
    commit()
    const out = join(mkdtempSync(join(scratch, 'out-')), 'review')
    const run = runStep(plan, 'Review', clone(), {
      ...{ GSLB_PATH: '.', GSLB_BASE: base, GSLB_SIGNERS: signers, GSLB_OUT: out },
      GSLB_FORMAT: 'github',
    })
    expect([run.status, run.err]).toEqual([status, ''])
    expect(run.out).toMatch(said)
    expect(readFileSync(join(out, 'comment.md'), 'utf8')).toContain('<!-- gslbd-plan -->')
  })
})

describe('a database of the action that plans', () => {
  const rows = [
    ['geoip', 'geo-ip', 'GSLB_GEOIP', cityDatabase],
    ['asn', 'asn', 'GSLB_ASN', operatorDatabase],
  ] as const

  test.each(rows)('%s is one that its review reads', (input, step, variable, database) => {
    const given = `\${{ inputs.${input} }}`
    expect(stepsOf(plan).find(({ name }) => name === 'Review')?.env?.[variable]).toBe(given)
    const ours = stepsOf(reusable).find(({ uses }) => uses?.endsWith('gslbd-plan') === true)
    expect(ours?.with?.[input]).toBe(given)
    for (const path of [plan, reusable]) expect(inputsOf(path)).toHaveProperty([input])

    const { box, signers, commit, base, clone } = scene()
    const service = 'origin/tenants/default/services/shop.yaml'
    const text = readFileSync(box.at(service), 'utf8')
    box.write(service, text.replace('ttl: 60', `ttl: 60, filterChain: [${step}, round-robin]`))
    commit()
    const run = (file: string) =>
      runStep(plan, 'Review', clone(), {
        ...{ GSLB_PATH: '.', GSLB_BASE: base, GSLB_SIGNERS: signers, GSLB_FORMAT: 'text' },
        ...{ GSLB_OUT: join(mkdtempSync(join(scratch, 'out-')), 'review'), [variable]: file },
      })
    const blind = `steps go by: give --${input}`
    expect(run('').out).toContain(blind)
    const file = join(mkdtempSync(join(scratch, 'db-')), 'some.mmdb')
    writeFileSync(file, database())
    const seeing = run(file)
    expect(seeing.out).toMatch(/^Guardrails: /m)
    expect(seeing.out).not.toContain(blind)
  })
})

describe('the action that attests', () => {
  /** A branch merged as a hosting service does: a commit that nobody signed. */
  function merged(how: 'signed' | 'unsigned', more = '') {
    const made = scene()
    const { box, origin, commit } = made
    box.git(origin, 'checkout', '-q', '-b', 'change')
    box.git(origin, 'apply', 'changes/good.patch')
    commit(how)
    box.git(origin, 'checkout', '-q', 'main')
    box.write('origin/OTHER.md', 'main went on\n')
    const base = commit()
    box.git(origin, 'merge', '-q', '--no-ff', '--no-commit', 'change')
    if (more !== '') box.write('origin/tenants/default/pools/more.yaml', more)
    const head = commit('unsigned')
    return { ...made, base, head }
  }
  const run = ({ signers, robot, base, clone }: ReturnType<typeof merged>) =>
    runStep(attest, 'Attest', clone(), {
      ...{ GSLB_BASE: base, GSLB_SIGNERS: signers, GSLB_KEY: readFileSync(robot.path, 'utf8') },
    })
  const refs = ({ box, origin }: ReturnType<typeof merged>): string =>
    box.git(origin, 'for-each-ref', '--format=%(refname)', 'refs/gslb')

  test('vouches for a merge of signed commits, and pushes that', () => {
    const made = merged('signed')
    expect(run(made).status).toBe(0)
    expect(refs(made)).toBe(`refs/gslb/attest/${made.head}`)
    const { box, origin, signers, base } = made
    const gslbd = join(root, 'bin/gslbd')
    const words = ['verify', origin, '--base', base, '--allowed-signers', signers]
    expect(box.run(gslbd, words)).toContain('ok: each commit')
  })

  test.each([
    ['commits that nobody signed', 'unsigned', '', /is not accepted: it is not signed/],
    ['a merge that brings more', 'signed', 'kind: Pool\n', /is not what merging its parents gives/],
  ] as const)('not for %s', (_label, how, more, why) => {
    const made = merged(how, more)
    const { status, err } = run(made)
    expect(status).not.toBe(0)
    expect(err).toMatch(why)
    expect(refs(made)).toBe('')
  })

  test('not for a commit that is no merge', () => {
    const made = scene()
    made.commit('unsigned')
    const { status, err } = run({ ...made, head: '' })
    expect(status).not.toBe(0)
    expect(err).toContain('is no merge of two commits')
  })
})

test('the template for GitLab reviews and comments with commands that there are', () => {
  const template = read('deploy/ci/gitlab.yml') as Readonly<
    Record<string, { script: string[]; after_script: string[] }>
  >
  const { script, after_script: after } = template['gslbd review']!
  const { box, origin, signers, commit, base, clone } = scene()
  box.git(origin, 'apply', 'changes/good.patch')
  commit()
  const bin = join(root, 'bin')
  const env = {
    ...{ PATH: `${bin}:${process.env['PATH']}`, HOME: scratch, ...gitEnvironment },
    ...{ GSLB_PATH: '.', GSLB_BASE: base, GSLB_OUT: '.gslbd-review', GSLB_SIGNERS: signers },
  }
  const options = { cwd: clone(), env, encoding: 'utf8' } as const
  const reviewed = spawnSync('sh', ['-e', '-c', script.join('\n')], options)
  expect([reviewed.status, reviewed.stdout]).toEqual([
    0,
    expect.stringContaining('a node would accept this change'),
  ])
  // Nothing listens there: what counts is that the words are understood, and the token is used.
  const told = spawnSync('sh', ['-e', '-c', after.join('\n')], {
    ...options,
    env: {
      ...{ ...env, GSLBD_FORGE_TOKEN: 'x', CI_API_V4_URL: 'http://127.0.0.1:1' },
      ...{ CI_PROJECT_ID: '7', CI_COMMIT_SHA: 'c'.repeat(40), CI_MERGE_REQUEST_IID: '3' },
      CI_JOB_URL: 'https://gitlab.example.com/j/1',
    },
  })
  expect([told.status, told.stderr]).toEqual([1, expect.stringContaining('127.0.0.1:1 cannot')])
})
