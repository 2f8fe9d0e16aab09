import { appendFileSync, existsSync, mkdirSync, writeFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigRepository } from '#bench/support/config-repository.ts'
import { spawn } from 'node:child_process'
const home = '/tmp/memx/home'; rmSync(home, { recursive: true, force: true }); mkdirSync(home, { recursive: true })
const dataDir = join(home, 'data'); mkdirSync(dataDir)
const repo = new ConfigRepository(home); const key = await repo.makeKey()
const settings = join(home, 'gslbd.yaml')
writeFileSync(settings, JSON.stringify({ dataDir, dns: { listenAddr: '127.0.0.1', port: 5391, threads: 1 }, health: { enabled: false }, api: { enabled: true, port: 8391 } }))
const p = spawn('/tmp/pkg/bin/gslbd', ['serve', '--settings', settings], { env: { ...process.env, GSLB_API_KEY: 'ab'.repeat(32) }, stdio: ['ignore', 'inherit', 'inherit'] })
const until = async (f: () => boolean | Promise<boolean>) => { while (!(await f())) await new Promise((r) => setTimeout(r, 200)) }
await until(() => existsSync(join(dataDir, 'allowed_signers')))
appendFileSync(join(dataDir, 'allowed_signers'), key)
await repo.open(join(dataDir, 'config.git')); repo.writeMany(10000, '192.0.2.77'); await repo.commitAndPush(['.'])
await until(async () => { const r = await fetch('http://127.0.0.1:8391/api/v1/health').then((r) => r.json() as any, () => undefined); console.log(JSON.stringify(r)); return r?.status === 'ok' && JSON.stringify(r).includes('1') })
await new Promise((r) => setTimeout(r, 8000)); p.kill('SIGTERM'); await new Promise((r) => p.on('exit', r)); process.exit(0)
