// Runs the commands for compose and Kubernetes of the page from nothing to two sites; docker,
// kubectl and helm are replaced by programs that note their arguments.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { tempDir } from '#test/support/temp-dir.ts'

const source = join(import.meta.dirname, '../../..')
const page = readFileSync(join(source, 'docs/operations/production.md'), 'utf8')
const noted = [
  '#!/bin/sh',
  'words="$(basename "$0")"',
  'for word in "$@"; do',
  '  words="$words $word"',
  '  case $word in --from-env-file=*) cat "${word#*=}" >"$NOTES/$6.env";; esac',
  'done',
  'echo "$words" >>"$NOTES/calls"',
].join('\n')

/** All commands of a section, in a directory as the source has them. @returns calls, and files */
function walk(section: string): { calls: readonly string[]; fileOf: (path: string) => string } {
  const [, text = ''] = page.split(`\n## ${section}\n`)
  const [own = ''] = text.split(/^## /m)
  const blocks = own.match(/(?:^ {4}.*\n)+/gm) ?? []
  const script = blocks.map((block) => block.replaceAll(/^ {4}/gm, '')).join('\n')
  const folder = tempDir('page')
  const programs = join(folder, 'programs')
  for (const path of [programs, join(folder, 'deploy/compose')])
    mkdirSync(path, { recursive: true })
  for (const name of ['docker', 'kubectl', 'helm']) {
    writeFileSync(join(programs, name), noted, { mode: 0o755 })
  }
  for (const path of ['alice.pub', 'deploy/compose/alice.pub']) {
    writeFileSync(join(folder, path), 'ssh-ed25519 AAAA alice\n')
  }
  const env = { PATH: `${programs}:${process.env['PATH']}`, NOTES: folder }
  execFileSync('bash', ['-euc', script], { cwd: folder, env, stdio: 'pipe' })
  const fileOf = (path: string): string => readFileSync(join(folder, path), 'utf8')
  return { calls: fileOf('calls').trim().split('\n'), fileOf }
}

const namesIn = (env: string): readonly string[] =>
  [...env.matchAll(/^(\w+)=.+$/gm)].map(([, name = '']) => name).toSorted()

test('compose: what the page writes into .env is what the file requires, and the remote', () => {
  const { calls, fileOf } = walk('Compose')
  const compose = readFileSync(join(source, 'deploy/compose/compose.yaml'), 'utf8')
  const required = [...compose.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name)
  expect(namesIn(fileOf('deploy/compose/.env'))).toEqual(
    [...new Set([...required, 'GSLB_GITOPS_URL'])].toSorted(),
  )
  const { services } = parse(compose) as { services: object }
  for (const call of calls) {
    const [, service] =
      /^docker compose (?:exec (\w+) gslbd |up -d$)/.exec(call) ?? expect.fail(call)
    if (service !== undefined) expect(Object.keys(services)).toContain(service)
  }
})

test('Kubernetes: the page makes the secrets that pods of both kinds name', () => {
  const { calls, fileOf } = walk('Kubernetes')
  const made = calls.flatMap((call) => /create secret generic (\S+)/.exec(call)?.slice(1) ?? [])
  const base = ['control.yaml', 'dns.yaml'].map((file) =>
    readFileSync(join(source, 'deploy/kubernetes/base', file), 'utf8'),
  )
  const named = [...base.join('').matchAll(/(?:secretRef: \{ name|secretName): ([\w-]+)/g)]
  expect(made.toSorted()).toEqual(named.map(([, name = '']) => name).toSorted())
  const both = ['GSLB_API_KEY', 'GSLB_BUNDLE_TOKEN', 'GSLB_METRICS_TOKEN']
  expect(namesIn(fileOf('gslbd-dns.env'))).toEqual(both)
  expect(namesIn(fileOf('gslbd.env'))).toEqual(
    [...both, 'GSLB_GITOPS_URL', 'GSLB_SECRET_KEY'].toSorted(),
  )
})

test('Kubernetes: tokens are those of the control node, and its key is not', () => {
  const [control = '', dns = ''] = ['gslbd.env', 'gslbd-dns.env'].map(walk('Kubernetes').fileOf)
  const valueIn = (env: string, name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(env)?.[1]
  for (const [name, isShared] of [
    ['GSLB_BUNDLE_TOKEN', true],
    ['GSLB_METRICS_TOKEN', true],
    ['GSLB_API_KEY', false],
  ] as const) {
    expect([name, valueIn(control, name) === valueIn(dns, name)]).toEqual([name, isShared])
  }
})

test('Kubernetes: folders, objects and the image of the page are there', () => {
  const calls = walk('Kubernetes').calls.join('\n')
  const [, overlay = ''] = /kubectl apply -k (\S+)/.exec(calls) ?? []
  const [, chart = ''] = /helm install gslbd (\S+)/.exec(calls) ?? []
  for (const file of [join(overlay, 'kustomization.yaml'), join(chart, 'Chart.yaml')]) {
    expect([file, existsSync(join(source, file))]).toEqual([file, true])
  }
  const [, repository, tag] = /docker push (\S+):(\S+)/.exec(calls) ?? []
  expect(calls).toContain(`--set image.repository=${repository}`)
  const { images } = parse(readFileSync(join(source, overlay, 'kustomization.yaml'), 'utf8')) as {
    images: object[]
  }
  expect(images).toEqual([{ name: 'gslbd', newName: repository, newTag: tag }])
  const [, key = ''] = /exec gslbd-control-0 -- openssl pkey -in (\S+) /.exec(calls) ?? []
  expect(dirname(dirname(key))).toBe('/var/lib/gslbd')
  expect(calls).toContain('rollout status deployment/gslbd-dns')
})
