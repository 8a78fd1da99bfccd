import { MAX_URL_LENGTH } from '../catalog/file-source.js';
import { GatewayError } from '../errors.js';
import { isJsonObject } from '../json.js';
import { INPUT_AUDIO, namesOutput, PRICED, PRICED_CONFIG, type PricedFields } from './priced-fields.js';
import type { OpenedUnit } from './sold-units.js';
import type { TextStyle } from './text-style.js';
import { isOptionalTool, toolName, type UnpricedUse } from './upstream-policy.js';
import { ACCOUNT_IDS, CALLERS_DATA, FETCHED, INSPECTED, PLAIN } from './use-names.js';

/** URL parsers drop tabs and line breaks, wherever they stand. */
const BREAKS = /[\t\r\n]/g;
const INLINE = /^\s*data:/i;
/** `http:`, `s3://`, `jar:file:/`, `C:\\`: base64 has no colon, and words have no slash behind theirs. */
const WEB = /^\s*((https?|ftp|file|ws|wss|gopher):|[a-z][a-z\d+.-]*:([a-z]+:)?[/\\])/i;
/** Any scheme, what completes another address, and what names a file of the machine that reads it. */
const ANYWHERE = /^\s*([a-z][a-z\d+.-]*:|[/\\])/i;

/** Fields that hold a file in some interface, and an address instead of it at some vendors. */
const CARRIERS = /^(data|file_data|input_audio|input_video|image|video|audio|file|document|media)s?$/;

/** Fields that may name what is fetched: `url`, `image_urls`, `fileUri`. */
const NAMES_ADDRESS = /^(ur[li]|.*_ur[li]|.*Ur[li])s?$/;

/**
 * Whether a text is an address that might be fetched, by whatever scheme.
 *
 * @param field where it stands: a field that names an address holds nothing else.
 */
export function isAddress(text: string, field = ''): boolean {
  const read = text.replace(BREAKS, '');
  return !INLINE.test(read) && (NAMES_ADDRESS.test(field) ? ANYWHERE : WEB).test(read);
}

/**
 * Whether an address in a field stands for what is read from there.
 *
 * @param holderType the `type` of the object it is in; the `data` of a text is words.
 */
const mayBeFetched = (field: string, holderType: unknown): boolean =>
  NAMES_ADDRESS.test(field) || carriesFile(field, holderType);

/** Whether a field holds a file, or stands for one by an address. */
export const carriesFile = (field: string, holderType: unknown): boolean =>
  CARRIERS.test(field) && !(field === 'data' && holderType === 'text');

const listed = (sent: unknown): readonly unknown[] => (Array.isArray(sent) ? sent : []);

/** What a list of modalities names beside text, in small letters: images and speech have prices of their own. */
const otherMedia = (modalities: unknown): readonly string[] =>
  listed(modalities)
    .map((modality) => String(modality).toLowerCase())
    .filter((modality) => modality !== 'text');

/** What of an image, of speech or of a video a list of forms of the answer has. */
const otherFormats = (formats: unknown): readonly string[] =>
  listed(formats).flatMap((format) =>
    isJsonObject(format) ? Object.keys(format).filter((name) => name !== 'text' && format[name] != null) : [],
  );

/** The unit of what is made beside text. */
const MADE_UNITS: Readonly<Record<string, OpenedUnit>> = { audio: 'audio_output_token', image: 'image_output_token' };

/** Fields and tools whose work is counted in a unit of its own. */
const UNITS_OF_NAMES: Readonly<Record<string, OpenedUnit>> = {
  audio: 'audio_output_token',
  speechConfig: 'audio_output_token',
  imageConfig: 'image_output_token',
  web_search_options: 'vendor_web_search_call',
  web_search: 'vendor_web_search_call',
  web_search_preview: 'vendor_web_search_call',
  googleSearch: 'vendor_web_search_call',
  googleSearchRetrieval: 'vendor_web_search_call',
};

const unitNamed = (names: Readonly<Record<string, OpenedUnit>>, name: string): OpenedUnit | undefined =>
  Object.hasOwn(names, name) ? names[name] : undefined;

/** A URL in a request that an upstream may fetch. */
export interface NamedUrl {
  readonly param: string;
  readonly url: string;
}

/** What a request asks for beyond the tokens it uses. */
export interface RequestUses {
  readonly unpriced: readonly UnpricedUse[];
  readonly urls: readonly NamedUrl[];
  /**
   * Fields of unknown price, and a `service_tier` that the vendor's account decides: left out for an upstream that does not
   * list them. `generationConfig.x` is one of it.
   */
  readonly unknownFields: readonly string[];
}

/**
 * How long a prompt cache is kept at the price of a cache write, and at that of a long one, by the field that asks for it; nothing is known
 * of another time.
 */
const PRICED_TTLS = [
  ['cache_control', '5m', '1h'],
  ['prompt_cache_breakpoint', '30m', '12h'],
  ['prompt_cache_options', '30m', '12h'],
] as const;

/** Files that the vendor keeps, in a cloud store or behind its own interface. */
const VENDORS_FILE = /^gs:\/\/|^files\/|^https?:\/\/[^/]*googleapis\.com\/.*\/files\//i;

/** What brings sound: the type of a part, the field of one, a media type, a file by its data or the end of its address. */
const SOUND_PART = /^(input_?|output_?)?audio(_?url)?$/i;
const SOUND_FIELD = /^(input_?|output_?)?audios?(_?ur[li]s?)?$/i;
const MEDIA_TYPE = /^(mime|media|content)_?type$/i;
const SOUND_TYPE = /^\s*(audio\/|application\/ogg)/i;
const SOUND_FILE =
  /^\s*data:\s*(audio\/|application\/ogg)|^\s*[a-z][a-z\d+.-]*:[^?#]*\.(aac|aif|aiff|amr|flac|m4a|mp3|oga|ogg|opus|wav|weba|wma)([?#]|$)/i;

const TOP_LEVEL_TOOL = /^tools\[\d+\](\.\w+)?$/;

/** Deeper than any vendor's schema; what is there means nothing to them. */
const MAX_DEPTH = 64;

/**
 * Finds what a checked body of a style asks for. Names of the gemini style are read in camelCase.
 *
 * @throws GatewayError `unknown_parameter` for a field that differs from one that is looked at only in how it is written.
 */
export function requestUses(style: TextStyle, body: Readonly<Record<string, unknown>>): RequestUses {
  return new UseFinder(style).find(body);
}

/** Where a field stands. */
interface Place {
  readonly param: string;
  /** The `type` of the object around it. */
  readonly type: unknown;
}

class UseFinder {
  private readonly priced: PricedFields;
  private readonly unpriced: UnpricedUse[] = [];
  private readonly urls: NamedUrl[] = [];
  private readonly unknown: string[] = [];
  private choice: unknown;
  /** Whether the request has tools that its caller runs: without one, it is about what it asks the vendor for. */
  private hasOwnTools = false;
  private hasSound = false;

  constructor(private readonly style: TextStyle) {
    this.priced = PRICED[style];
  }

  find(body: Readonly<Record<string, unknown>>): RequestUses {
    this.choice = body['tool_choice'];
    this.fields(body, this.priced, '');
    const config = body['generationConfig'];
    if (this.style === 'gemini' && isJsonObject(config)) this.config(config);
    if (this.style === 'responses') this.reasoning(body['reasoning']);
    if (this.style === 'chat') this.made(otherMedia(body['modalities']), 'modalities', 'modalities');
    this.tier(body, 'service_tier');
    this.tier(body, 'serviceTier');
    this.walk(body, '', 0);
    const unpriced = this.hasOwnTools ? this.unpriced : this.unpriced.map(insisted);
    return { unpriced, urls: this.urls, unknownFields: this.unknown };
  }

  private use(kind: UnpricedUse['kind'], name: string, param: string, unit = unitNamed(UNITS_OF_NAMES, name)): void {
    this.unpriced.push({ kind, name, param, ...(unit && { unit }) });
  }

  private fields(
    sent: Readonly<Record<string, unknown>>,
    known: { fields: ReadonlySet<string>; extraCost: ReadonlySet<string> },
    path: string,
  ): void {
    for (const name of Object.keys(sent)) {
      if (known.fields.has(name) || (sent[name] == null && !namesOutput(name))) continue;
      if (known.extraCost.has(name)) this.use('fields', name, path + name);
      else this.unknown.push(path + name);
    }
  }

  private config(config: Readonly<Record<string, unknown>>): void {
    this.fields(config, PRICED_CONFIG, 'generationConfig.');
    this.made(otherMedia(config['responseModalities']), 'responseModalities', 'generationConfig.responseModalities');
    this.made(otherFormats(config['responseFormat']), 'responseFormat', 'generationConfig.responseFormat');
  }

  private made(media: readonly string[], name: string, param: string): void {
    for (const medium of new Set(media)) this.use('fields', name, param, unitNamed(MADE_UNITS, medium));
  }

  /** How much more another mode than the standard one costs is not known. */
  private reasoning(sent: unknown): void {
    const mode = isJsonObject(sent) ? sent['mode'] : undefined;
    if (mode != null && mode !== 'standard') this.use('fields', 'reasoning.mode', 'reasoning.mode');
  }

  /** Some vendors also read the number of a tier. */
  private tier(body: Readonly<Record<string, unknown>>, field: string): void {
    const sent = body[field];
    if (typeof sent !== 'string' && typeof sent !== 'number') return;
    const tier = String(sent).toLowerCase();
    if (this.priced.tiers.has(tier)) return;
    if (tier === this.priced.accountTier) this.unknown.push(field);
    else this.use('service_tiers', tier, field);
  }

  /** Sound is charged by tokens too, at several times the price of text; one use stands for all sounds of a request. */
  private sound(param: string): void {
    if (!this.hasSound) this.use('fields', INPUT_AUDIO, param, 'audio_input_token');
    this.hasSound = true;
  }

  private walk(value: unknown, path: string, depth: number): void {
    if (depth > MAX_DEPTH) return;
    if (Array.isArray(value)) this.walkItems(value, path, depth);
    else if (isJsonObject(value)) this.walkFields(value, path, depth);
  }

  private walkItems(items: readonly unknown[], path: string, depth: number): void {
    for (let index = 0; index < items.length; index += 1)
      if (typeof items[index] === 'object') this.walk(items[index], `${path}[${index}]`, depth + 1);
  }

  private walkFields(value: Readonly<Record<string, unknown>>, path: string, depth: number): void {
    // The arguments of a call are the caller's data.
    const isCall = typeof value['type'] === 'string' && value['type'].endsWith('tool_use');
    INSPECTED.expectOneSpelling(value, path, refuseSpelling);
    this.cacheTime(value, path);
    if (path !== '' && typeof value['type'] === 'string' && SOUND_PART.test(value['type'])) this.sound(path);
    for (const name of Object.keys(value)) {
      const entry = value[name];
      const isText = typeof entry === 'string';
      if ((!isText && typeof entry !== 'object') || entry === null) continue;
      if (isText ? PLAIN.has(name) : this.isCallersData(name, isCall)) continue;
      this.field(name, entry, { param: path === '' ? name : `${path}.${name}`, type: value['type'] }, depth);
    }
  }

  /** @param path of what is to be cached. */
  private cacheTime(value: Readonly<Record<string, unknown>>, path: string): void {
    for (const [field, priced, long] of PRICED_TTLS) {
      const control = value[field];
      if (!isJsonObject(control) || control['ttl'] == null || control['ttl'] === priced) continue;
      const name = `${field}.ttl`;
      const unit = control['ttl'] === long ? { unit: 'cache_write_long_token' as const } : undefined;
      this.unpriced.push({
        kind: 'fields',
        name,
        param: path === '' ? name : `${path}.${name}`,
        isHint: true,
        ...unit,
      });
    }
  }

  private isCallersData(name: string, isCall: boolean): boolean {
    // What a function returned, which the gemini style keeps apart from images in `parts`.
    const isResult = name === 'response' && this.style === 'gemini';
    return isResult || (isCall && name === 'input') || CALLERS_DATA.has(name);
  }

  private field(name: string, entry: string | object, place: Place, depth: number): void {
    const { param } = place;
    // Names some of those that are offered, and offers none.
    if (param === 'tool_choice.tools') return;
    if (name === 'tools' && Array.isArray(entry)) return this.tools(entry, param, depth);
    if (name === 'mcp_servers' && !(Array.isArray(entry) && entry.length === 0)) this.use('tools', 'mcp', param);
    if (isAddedTool(name, place) && isJsonObject(entry)) return this.tool(entry, param, depth);
    // At the top it is how the answer shall sound.
    if (SOUND_FIELD.test(name) && param !== name) this.sound(param);
    if (ACCOUNT_IDS.has(name) && !isOwnContainer(name, entry)) return this.use('account_ids', name, param);
    if (typeof entry === 'string') return this.text(name, entry, place);
    if (Array.isArray(entry) && mayBeFetched(name, place.type)) this.texts(name, entry, place);
    this.walk(entry, param, depth + 1);
  }

  private texts(name: string, items: readonly unknown[], place: Place): void {
    for (const item of items) if (typeof item === 'string') this.text(name, item, place);
  }

  private text(name: string, sent: string, { param, type }: Place): void {
    // One more character than any address may have, so that a longer one is still seen to be one.
    const text = sent.slice(0, MAX_URL_LENGTH + 1);
    if (MEDIA_TYPE.test(name) && SOUND_TYPE.test(text)) this.sound(param);
    const isFetched = FETCHED.test(name);
    if (!isFetched && !mayBeFetched(name, type)) return;
    if (SOUND_FILE.test(text)) this.sound(param);
    if (!isFetched && !isAddress(text, name)) return;
    if (VENDORS_FILE.test(text)) this.use('account_ids', name === 'fileUri' ? 'fileUri' : name, param);
    else if (!/^data:/i.test(text)) this.urls.push({ param, url: text });
  }

  private tools(tools: readonly unknown[], path: string, depth: number): void {
    for (const [index, tool] of tools.entries()) {
      if (!isJsonObject(tool)) continue;
      const param = `${path}[${index}]`;
      if (this.style === 'gemini') this.geminiTool(tool, param, depth);
      else this.tool(tool, param, depth);
    }
  }

  /** A tool of tomorrow is refused like one of today: only those that the caller runs are known to be free. */
  private tool(tool: Readonly<Record<string, unknown>>, param: string, depth: number): void {
    const type = tool['type'];
    const name = typeof type === 'string' ? toolName(type) : 'custom';
    const isOwn = this.priced.callersTools.test(name);
    this.hasOwnTools ||= isOwn;
    if (typeof type !== 'string') return this.cacheTime(tool, param);
    if (!isOwn) this.hostedTool(name, param, { ...tool, type });
    if (name !== 'function' && name !== 'custom') return this.walk(tool, param, depth + 1);
    INSPECTED.expectOneSpelling(tool, param, refuseSpelling);
    this.cacheTime(tool, param);
  }

  private hostedTool(
    name: string,
    param: string,
    tool: { readonly type: string; readonly name?: unknown; readonly max_uses?: unknown },
  ): void {
    // What stands deeper belongs to the tool around it.
    // Chat completions know no such tools: a caller that names one means a vendor of its own.
    const canBeLeft = this.style !== 'chat' && TOP_LEVEL_TOOL.test(param);
    const isOptional = canBeLeft && isOptionalTool(tool, this.choice);
    const unit = unitNamed(UNITS_OF_NAMES, name);
    const most =
      unit && Number.isSafeInteger(tool.max_uses) && Number(tool.max_uses) > 0 ? Number(tool.max_uses) : undefined;
    this.unpriced.push({
      kind: 'tools',
      name,
      param,
      ...(isOptional && { isOptional }),
      ...(unit && { unit }),
      ...(most !== undefined && { most }),
    });
  }

  private geminiTool(tool: Readonly<Record<string, unknown>>, param: string, depth: number): void {
    for (const name of Object.keys(tool)) {
      if (tool[name] == null) continue;
      if (this.priced.callersTools.test(name)) {
        this.hasOwnTools = true;
        continue;
      }
      this.hostedTool(name, `${param}.${name}`, { type: name });
      this.walk(tool[name], `${param}.${name}`, depth + 1);
    }
  }
}

const insisted = ({ isOptional: _isOptional, ...use }: UnpricedUse): UnpricedUse => use;

function refuseSpelling(param: string, code: 'unknown_parameter', message: string): never {
  throw new GatewayError(code, message, { param });
}

/** A tool that a message adds in mid-conversation. */
const isAddedTool = (name: string, { type }: Place): boolean => name === 'definition' && type === 'tool_definition';

/** `container: {type: 'auto'}` asks for a new one, which its tool stands for. */
const isOwnContainer = (name: string, entry: unknown): boolean =>
  name === 'container' && isJsonObject(entry) && entry['type'] === 'auto';
