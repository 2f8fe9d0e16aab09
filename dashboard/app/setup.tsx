// The first three steps on a new node: an account, a zone with its name server, a service.
import { useState } from 'preact/hooks'
import { useAct } from '../api/act.ts'
import { send } from '../api/client.ts'
import { follow } from '../api/live.ts'
import { authConfig, learnWho, me, signIn } from '../api/session.ts'
import { useFirstField } from '../parts/first-field.ts'
import { Copy, Fault } from '../parts/page.tsx'
import { go } from '../parts/location.ts'
import { Brand, Input } from './sign-in.tsx'

const steps = ['Account', 'Zone', 'Service'] as const

export function Setup() {
  const [step, setStep] = useState(me.value ? 1 : 0)
  const next = (): void => setStep(step + 1)
  return (
    <div class="door">
      <main class="card wide" id="main">
        <Brand />
        <h1>Welcome. Three steps to the first answer.</h1>
        <ol class="progress">
          {steps.map((name, i) => (
            <li
              key={name}
              class={i < step ? 'done' : ''}
              {...(i === step ? { 'aria-current': 'step' } : {})}
            >
              {name}
            </li>
          ))}
        </ol>
        {step === 0 && <AccountStep next={next} />}
        {step === 1 && <ZoneStep next={next} />}
        {step === 2 && <ServiceStep />}
      </main>
    </div>
  )
}

/** While it is open, the page stays in the setup, even after signing in. */
export const isSettingUp = (path: string): boolean => path === '/setup'

interface StepFormProps {
  readonly word: string
  readonly act: () => Promise<void>
  readonly onSkip?: () => void
  readonly children: preact.ComponentChildren
}

function StepForm({ word, act, onSkip, children }: StepFormProps) {
  const { isBusy, fault, act: attempt } = useAct()
  const [tries, setTries] = useState(0)
  const form = useFirstField(tries)
  const submit = async (): Promise<void> => {
    if (!(await attempt(act))) setTries(tries + 1)
  }
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      {children}
      <Fault fault={fault} />
      <div class="dialog-foot">
        {onSkip && (
          <button type="button" onClick={onSkip}>
            Skip this
          </button>
        )}
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? 'One moment …' : word}
        </button>
      </div>
    </form>
  )
}

function AccountStep({ next }: { next: () => void }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [setupCode, setCode] = useState('')
  const needsCode = authConfig.value?.setupNeedsCode === true
  const act = async (): Promise<void> => {
    const body = { email, password, ...(needsCode ? { setupCode } : {}) }
    await send('/api/v1/auth/setup', { method: 'POST', body })
    go('/setup')
    await signIn({ email, password })
    next()
  }
  return (
    <StepForm word="Create the account" act={act}>
      <p class="soft">The first account is the system administrator of this node.</p>
      <Input label="E-mail" type="email" name="username" value={email} onInput={setEmail} />
      <Input
        {...{ label: 'Password', type: 'password', name: 'new-password' }}
        value={password}
        onInput={setPassword}
        hint="Long beats complicated: a few words are fine."
      />
      {needsCode && (
        <Input
          {...{ label: 'Setup code', type: 'text', name: 'one-time-code' }}
          value={setupCode}
          onInput={setCode}
          hint="The log of the node shows it: look for setupCode."
        />
      )}
    </StepForm>
  )
}

const dotted = (name: string): string => (name.endsWith('.') ? name : `${name}.`)

function ZoneStep({ next }: { next: () => void }) {
  const [zone, setZone] = useState('')
  const [server, setServer] = useState('')
  const [address, setAddress] = useState('')
  const act = async (): Promise<void> => {
    const settings = await send('/api/v1/settings')
    const { repository } = settings.body as { repository: { zones?: readonly object[] } | null }
    const nameserver = { name: dotted(server), addresses: [address] }
    const soa = { mname: dotted(server), rname: `hostmaster.${dotted(zone)}` }
    const added = { name: dotted(zone), nameservers: [nameserver], soa }
    const body = { zones: [...(repository?.zones ?? []), added] }
    await send('/api/v1/settings', { method: 'PUT', body, ifMatch: settings.etag })
    next()
  }
  return (
    <StepForm word="Declare the zone" act={act} onSkip={next}>
      <p class="soft">A zone is what this server is authoritative for.</p>
      <Input
        label="Zone"
        type="text"
        name="zone"
        value={zone}
        onInput={setZone}
        hint="example.com"
      />
      <Input
        {...{ label: 'Name server', type: 'text', name: 'nameserver' }}
        value={server}
        onInput={setServer}
        hint="The name of this server in the delegation: ns1.example.com"
      />
      <Input
        {...{ label: 'Its address', type: 'text', name: 'address' }}
        value={address}
        onInput={setAddress}
        hint="IPv4 or IPv6, as others reach it"
      />
    </StepForm>
  )
}

function ServiceStep() {
  const [domain, setDomain] = useState('')
  const [address, setAddress] = useState('')
  const [port, setPort] = useState('443')
  const [isDone, setDone] = useState(false)
  const act = async (): Promise<void> => {
    const name = domain.replace(/\.$/, '').replace(/[^A-Za-z0-9]+/g, '-')
    const pool = await send('/api/v1/pools', { method: 'POST', body: { name } })
    const { id: poolId } = pool.body as { id: string }
    const member = { ipAddress: address, port: Number(port) }
    await send(`/api/v1/pools/${poolId}/members`, { method: 'POST', body: member })
    await send('/api/v1/services', { method: 'POST', body: { name, domain, poolId } })
    setDone(true)
  }
  const finish = async (): Promise<void> => {
    await learnWho()
    follow()
    go('/')
  }
  if (!isDone) {
    return (
      <StepForm word="Create the service" act={act} onSkip={() => void finish()}>
        <p class="soft">A service is a name that is answered with the healthy members of a pool.</p>
        <Input
          {...{ label: 'Name', type: 'text', name: 'domain' }}
          value={domain}
          onInput={setDomain}
          hint="www.example.com"
        />
        <Input
          {...{ label: 'Address of the first member', type: 'text', name: 'member' }}
          value={address}
          onInput={setAddress}
        />
        <Input
          {...{ label: 'Its port', type: 'text', name: 'port' }}
          value={port}
          onInput={setPort}
          isNumeric
        />
      </StepForm>
    )
  }
  const dig = `dig @${location.hostname} ${domain}`
  return (
    <div class="stack">
      <p>Done. Ask it; if DNS listens on another port than 53, add -p and the port:</p>
      <div class="split">
        <code>{dig}</code>
        <Copy text={dig} />
      </div>
      <button type="button" class="primary" onClick={() => void finish()}>
        To the overview
      </button>
    </div>
  )
}
