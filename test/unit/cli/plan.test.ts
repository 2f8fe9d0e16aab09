// gslbd plan: commits, directories and bundle files; forms of print; what is said of a wrong call.
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Exit } from '#system/process/command.ts'
import type { Plan } from '#judge/document/model.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import { runCli } from '#test/support/run-cli.ts'
import { poolPath, poolYaml, servicePath, serviceYaml } from '#test/support/site.ts'

const settings =
  'apiVersion: gslb/v1\nkind: Settings\nmetadata: { name: settings }\n' +
  'spec: { zones: [{ name: example.com. }], defaults: { nameservers: [{ name: ns1.example.net. }] } }\n'

/** @param folder of the checkout, in which the configuration lies */
function checkout(folder = '') {
  const box = gitSandbox()
  const repo = box.at('repo')
  box.git(box.path, 'init', '-q', '-b', 'main', 'repo')
  box.write(`repo/${folder}gslb.yaml`, settings)
  box.write(`repo/${folder}${poolPath}`, poolYaml('192.0.2.1'))
  box.write(`repo/${folder}${servicePath}`, serviceYaml('www.example.com.'))
  const commit = (message: string): void => {
    box.git(repo, 'add', '-A')
    box.git(repo, 'commit', '-q', '--allow-empty', '-m', message)
  }
  commit('first')
  box.git(repo, 'tag', 'base')
  const plan = (...more: string[]) => runCli('plan', box.at('repo', folder), ...more)
  const move = (address: string): void =>
    void box.write(`repo/${folder}${poolPath}`, poolYaml(address))
  return { box, repo, commit, plan, move }
}

const planOf = (out: string): Plan => JSON.parse(out) as Plan

test.each(['', 'dns/'])('uncommitted changes are planned, too (in "%s")', async (folder) => {
  const { plan, move, commit } = checkout(folder)
  const same = await plan('--base', 'base')
  expect(same).toMatchObject({ exit: Exit.Ok, err: '' })
  expect(same.out).toContain('no answer differs')
  move('192.0.2.2')
  const said = await plan('--base', 'base', '--format', 'json')
  const { summary, scenarios, base } = planOf(said.out)
  expect(summary).toMatchObject({ names: 1, movedMax: 1, movedMaxName: 'www.example.com.' })
  expect(scenarios[0]?.changes[0]?.movement?.ipv4.flows).toMatchObject([
    { from: { member: '192.0.2.1' }, to: { member: '192.0.2.2' }, share: 1 },
  ])
  expect(base).toMatchObject({
    source: 'base',
    commit: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
  })
  commit('second')
  const back = await plan('--base', 'HEAD', '--head', 'base', '--format', 'json')
  expect(planOf(back.out).summary.movedMax).toBe(1)
  expect((await plan('--base', 'base', '--max-moved', '99.9')).exit).toBe(Exit.Guardrail)
  expect((await plan('--base', 'base', '--max-moved', '100')).exit).toBe(Exit.Ok)
})

test('the guardrail of the base counts without --max-moved', async () => {
  const { box, plan, move, commit } = checkout()
  const limited = settings.replace('spec: {', 'spec: { guardrails: { movedClients: 60 },')
  box.write('repo/gslb.yaml', limited)
  commit('a limit')
  box.write('repo/gslb.yaml', settings)
  move('192.0.2.2')
  const said = await plan('--base', 'HEAD')
  expect(said.exit).toBe(Exit.Guardrail)
  expect(said.err).toBe(
    'gslbd plan: this change sends 100 % of the clients of www.example.com. elsewhere, more ' +
      'than 60 %\n',
  )
  expect((await plan('--base', 'HEAD', '--max-moved', '100')).exit).toBe(Exit.Ok)
  expect((await plan('--base', 'base')).exit).toBe(Exit.Ok)
})

test('clients of a name that is removed move nowhere', async () => {
  const { box, repo, plan } = checkout()
  box.git(repo, 'rm', '-q', servicePath)
  const said = await plan('--base', 'base', '--max-moved', '0')
  expect([said.exit, said.err]).toEqual([Exit.Ok, ''])
  expect(said.out).toContain('(1 gone); no client moves to another answer; 1 answer is gone\n')
  const { summary } = planOf((await plan('--base', 'base', '--format', 'json')).out)
  expect(summary).toMatchObject({ removedNames: 1, movedMax: 0, movedMaxName: '' })
  const { out } = await runCli('plan', '--help')
  expect(out).toContain('guardrails.removedNames')
})

test('without gslb.yaml every answer of the zone is gone', async () => {
  const { box, repo, plan } = checkout()
  box.git(repo, 'rm', '-q', 'gslb.yaml')
  const { summary } = planOf((await plan('--base', 'base', '--format', 'json')).out)
  expect(summary.names).toBeGreaterThan(0)
})

test('bundle files and directories are planned, in each form', async () => {
  const { box, plan, move } = checkout()
  const file = box.at('old.bundle')
  const compiled = await runCli('compile', box.at('repo'), '--output', file)
  expect(compiled.exit).toBe(Exit.Ok)
  move('192.0.2.2')
  const asn = box.at('asn.mmdb')
  const hostile = 'Evil <script>alert(1)</script> | `x`'
  const record = { autonomous_system_number: 64_500, autonomous_system_organization: hostile }
  writeFileSync(asn, writeMmdb({ type: 'ASN', networks: [['192.0.2.0/24', record]] }))
  const forms = await Promise.all(
    ['text', 'markdown', 'html'].map((format) =>
      plan('--base', file, '--asn', asn, '--format', format),
    ),
  )
  expect(forms.map(({ exit, err }) => [exit, err])).toEqual(forms.map(() => [Exit.Ok, '']))
  const [text = '', markdown = '', html = ''] = forms.map(({ out }) => out)
  expect(text).toContain('www.example.com. A  100 % of clients move')
  expect(text).toContain('operators  in no database > 99.9 %, AS64500 Evil')
  expect(markdown).toMatch(/^### 1 of \d+ names answers differently; up to 100 %/)
  expect(markdown).toContain('<details><summary><code>www.example.com.</code> A</summary>')
  expect(html).toMatch(/^<!doctype html>[^]*<\/html>\n$/)
  for (const shown of [markdown, html]) expect(shown).not.toContain('<script')
  expect(html).not.toMatch(/(src|href)=/)
  const directory = await plan('--base', box.at('repo'), '--head', file, '--format', 'json')
  expect(planOf(directory.out).summary.movedMax).toBe(1)
  expect(readFileSync(file).length).toBeGreaterThan(0)
})

describe('faults that prevent a comparison', () => {
  test('a base with errors, and which', async () => {
    const { box, plan, commit } = checkout()
    box.write(`repo/${servicePath}`, serviceYaml('www.example.com.').replace('spec:', 'specs:'))
    commit('broken')
    box.write(`repo/${servicePath}`, serviceYaml('www.example.com.'))
    const { exit, err } = await plan('--base', 'HEAD')
    expect(exit).toBe(Exit.ErrorsFound)
    expect(err).toMatch(/the base, HEAD, has errors, so no answer can be compared:[^]*specs/)
    expect((await plan('--base', 'base', '--head', 'HEAD')).err).toContain('the head, HEAD, has')
  })

  test('commits of two histories, and of two branches', async () => {
    const { box, repo, plan, commit, move } = checkout()
    box.git(repo, 'checkout', '-q', '--orphan', 'alone')
    commit('alone')
    const apart = await plan('--base', 'base', '--head', 'alone')
    expect(apart).toMatchObject({ exit: Exit.Usage, out: '' })
    expect(apart.err).toContain('base and alone have no commit in common')
    box.git(repo, 'checkout', '-q', 'main')
    commit('newer')
    box.git(repo, 'checkout', '-q', '-b', 'branch', 'base')
    move('192.0.2.9')
    commit('of a branch')
    const behind = await plan('--base', 'main', '--head', 'branch')
    expect(behind.exit).toBe(Exit.Ok)
    expect(behind.out).toContain('branch does not have all of main')
  })

  test('a shallow clone, and what to fetch', async () => {
    const { box, commit } = checkout()
    commit('second')
    box.git(box.path, 'clone', '-q', '--depth=1', `file://${box.at('repo')}`, 'shallow')
    const { exit, err } = await runCli('plan', box.at('shallow'), '--base', 'HEAD~1')
    expect(exit).toBe(Exit.Usage)
    expect(err).toContain('git fetch --unshallow')
  })

  test('a commit of tomorrow', async () => {
    const { box, repo, plan, commit } = checkout()
    commit('second')
    const later = box.git(repo, 'cat-file', 'commit', 'main')
    const raw = `${later.replace(/^(committer .*> )\d+ .*$/m, '$14070908800 +0000')}\n`
    const args = ['-C', repo, 'hash-object', '-t', 'commit', '-w', '--stdin']
    box.git(repo, 'update-ref', 'refs/heads/main', box.run('git', args, raw))
    expect((await plan('--base', 'base', '--head', 'main')).out).toContain('is this clock right?')
  })

  test('a wrong call', async () => {
    const { plan } = checkout()
    for (const [args, sentence] of [
      [[], 'give --base'],
      [['--base', 'nothing'], '"nothing" is not a commit'],
      [['--base', 'base', '--at', 'noon'], '"noon" is not a time'],
      [['--base', 'base', '--max-moved', '101'], '--max-moved is a percentage'],
      [['--base', 'base', '--format', 'xml'], '--format is text'],
      [['--base', './nowhere'], 'nowhere does not exist'],
      [['--base', 'base', '--health', '/nowhere.json'], '/nowhere.json'],
    ] as const) {
      const { exit, err } = await plan(...args)
      expect(err).toContain(sentence)
      expect(exit).toBe(Exit.Usage)
    }
  })
})
