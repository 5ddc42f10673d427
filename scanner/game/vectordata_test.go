package game

// vectorText has made-up replies of each game and the values that Decode must read from
// them, as dump prints them. A reply begins with the ID of the game; more continues the
// value of a rule.
const vectorText = `
ark
name "Our Island - (v358.7)"
rules "ALLOWDOWNLOADCHARS_i" "1" "ALLOWDOWNLOADITEMS_i" "0" "ClusterId_s" "abc"
rules "CUSTOMSERVERNAME_s" "our island" "DayTime_s" "316" "GameMode_s" "TestGameMode_C"
rules "HASACTIVEMODS_i" "1"
rules "MOD10_s" "5:ee" "MOD0_s" "731604991:8E24D606" "MOD1_s" "12" "MODx_s" "9:9"
rules "OFFICIALSERVER_i" "0"
rules "SERVERUSESBATTLEYE_b" "true" "SERVERPASSWORD_b" "false" "SESSIONISPVE_i" "1"
	version 358.7 < info.name
	pvp false < rules.SESSIONISPVE_i
	password false < rules.SERVERPASSWORD_b
	modded true < rules.HASACTIVEMODS_i
	anticheat true < rules.SERVERUSESBATTLEYE_b
	day 316 < rules.DayTime_s
	mods 3 < rules.MODN_s
	mod 5 "" ee
	mod 731604991 "" 8E24D606
	mod 12 "" 

ark
name "Our Island (very good)"

ark
name "Cut off - (v35"
rules "HASACTIVEMODS_i" "0" "DAYTIME_s" "14:43" "SESSIONISPVE_i" "maybe"
	modded false < rules.HASACTIVEMODS_i
	time_of_day 14:43 < rules.DAYTIME_s
	mods 0 < rules.HASACTIVEMODS_i
	note value.unreadable

atlas
name "D4 - Our Sea - (v400.21)"
rules "ATLASFRIENDLYNAME_s" "Our Cluster" "BuildId_s" "400" "DayTime_s" "701" "MINORBUILDID_s" "21"
rules "MOD0_s" "1629667379:04D3" "ServerPassword_b" "false" "SERVERUSESBATTLEYE_b" "true"
rules "SESSIONISPVE_i" "1"
	version 400.21 < info.name
	pvp false < rules.SESSIONISPVE_i
	password false < rules.ServerPassword_b
	anticheat true < rules.SERVERUSESBATTLEYE_b
	day 701 < rules.DayTime_s
	mods 1 < rules.MODN_s
	mod 1629667379 "" 04D3
	attribute cluster Our Cluster < rules.ATLASFRIENDLYNAME_s

pixark
name "A name that INFO cuts - "
rules "BuildId_s" "1" "DayTime_s" "27" "MINORBUILDID_s" "177"
rules "SessionName_s" "A name that INFO cuts - (v1.177)"
	version 1.177 < rules.BuildId_s
	day 27 < rules.DayTime_s
	attribute name A name that INFO cuts - (v1.177) < rules.SessionName_s

pixark
rules "BuildId_s" "1"

pixark
map "ShooterEntry"
rules "DayTime_s" "00:00" "SESSIONISPVE_i" "0"

darkandlight
rules "BuildId_s" "100" "DayTime_s" "16:23" "MINORBUILDID_s" "54345" "ServerPassword_b" "false"
	version 100.54345 < rules.BuildId_s
	password false < rules.ServerPassword_b
	time_of_day 16:23 < rules.DayTime_s

arma3
keywords "bt,r218,n152405,s7,i1,mf,lf,vt,dt,tcoop,g65545,h1234abcd,f0,c12--34,pw,e15,y0,oDE,"
rules "\x02\x02" "\x05local\x02\x02a3\x03key"
rules "\x01\x02" "\x03\x01\x02\x05\x01\x02[\x01\x01\n\v\f\r\x1a\x1b\x1c\x1d\x03\xaa\xbb\xcc\xdd\x04"
more "\x15\xe4\xde\x1a\x06CBA_A3xV4\x12\x13\x93/\x11\x01\x02\x01\x01\x01\x02\x01\x02\x01"
more "\x02\x01\x01\x01\x02"
	mode coop < keywords.t
	region DE < keywords.o
	anticheat true < keywords.b
	mods 3 < rules.pages
	mod 450814997 "CBA_A3" ddccbbaa
	mod 1126291 "" 12345678 creator
	mod  "local" 00000001
	attribute advanced_flight true < rules.pages
	attribute ai_level 3 < rules.pages
	attribute crosshair true < rules.pages
	attribute difficulty 3 < rules.pages
	attribute dlc karts;heli < rules.pages
	attribute equal_mods f < keywords.m
	attribute file_patching 0 < keywords.f
	attribute hash 1234abcd < keywords.h
	attribute island 0 < keywords.y
	attribute language English < keywords.g
	attribute latitude -34 < keywords.c
	attribute locked f < keywords.l
	attribute longitude 12 < keywords.c
	attribute minutes_left 15 < keywords.e
	attribute platform w < keywords.p
	attribute required_build 152405 < keywords.n
	attribute required_version 218 < keywords.r
	attribute signatures a3;key < rules.pages
	attribute state playing < keywords.s
	attribute third_person false < rules.pages
	attribute verify_signatures t < keywords.v

arma3
keywords "bf,c4194303-4194303,s,"
rules "modNames:0-1" "Arma 3;@own;" "modHashes:0-2" ";01" "modHashes:1-2" "ab;"
rules "sigNames:0-1" "a3;mine;"
	anticheat false < keywords.b
	mods 2 < rules.modNames:N
	mod  "Arma 3" 
	mod  "@own" 01ab
	attribute signatures a3;mine < rules.sigNames:N

arma3
rules "\x01\x02" "\x03\x01\x02\x01\x02\x01\x02"
rules "\x02\x02" "\x01\x02\x01\x02\x02\xaa\xaa\xaa\xaa\x04"
	mods 0 < rules.pages
	attribute advanced_flight false < rules.pages
	attribute ai_level 0 < rules.pages
	attribute crosshair false < rules.pages
	attribute difficulty 0 < rules.pages
	attribute third_person false < rules.pages
	note pages.truncated

arma3
rules "\x01\x01" "\t\x03\x01\x02"
	note pages.version
	note pages.overflow

arma2oa
keywords "bt,r163,n125548,s9,i1,mf,lf,vt,dt,tcoop,g65544,c2147483647-2147483647,pw,"
rules "modHashes:0-2" ";BAF v. 1.03;0a" "modHashes:1-2" "0b;" "modNames:1-2" " Mod;@Hive;"
rules "modNames:0-2" "Arma 2;Arma 2: BAF;ArmA 2: DayZ" "sigNames:0-1" "bi;bi2;" "timeLeft" "15"
	mode coop < keywords.t
	anticheat true < keywords.b
	mods 4 < rules.modNames:N
	mod  "Arma 2" 
	mod  "Arma 2: BAF" BAF v. 1.03
	mod  "ArmA 2: DayZ Mod" 0a0b
	mod  "@Hive" 
	attribute equal_mods f < keywords.m
	attribute language 65544 < keywords.g
	attribute locked f < keywords.l
	attribute platform w < keywords.p
	attribute required_build 125548 < keywords.n
	attribute required_version 163 < keywords.r
	attribute signatures bi;bi2 < rules.sigNames:N
	attribute state aborted < keywords.s
	attribute verify_signatures t < keywords.v

dayzmod
keywords "bt,s10,g65541,"
	anticheat true < keywords.b
	attribute language Czech < keywords.g
	attribute state 10 < keywords.s

conan
keywords "BUILDID:1,OWNINGID:2,OWNINGNAME:Sand, Blood,P2PPORT:7777"
	attribute name Sand, Blood < keywords.OWNINGNAME

conan
keywords "OWNINGNAME:Sand"
rules "OWNINGNAME" "Sand and Blood" "S05_b" "true" "CSF_i" "0"
	attribute name Sand and Blood < rules.OWNINGNAME

conan
keywords "BUILDID:256536549,OWNINGID:2,"
keywords "OWNINGNAME:Sand and Blood and more than a hundred bytes of a name that goes on until the field ends, he"
	note keywords.cut

cs2
version "1.41.8.8"
keywords "empty,5v5,secure"
rules "sv_password" "0" "game_type" "0" "game_mode" "1"
	password false < rules.sv_password

css
rules "mp_roundtime" "3" "sourcemod_version" "1.6.0" "sv_password" "0" "nextlevel" "de_aztec"
	password false < rules.sv_password

dayz
keywords "battleye,no3rd,external,privHive,shard001,lqs7,etm6.000000,entm3.500000,mod,port2302,"
keywords "09:07"
rules "\x01\x01" "\x02\x01\x02\x1b\x01\x02\x01\x01\x02\x03\x04\x05\x06\a\b\x05\x06\a\b\x05\x06\a\b\x02\x11\"3D\x04\x93am]\x02"
more "CF\x01\x02\x01\x02\x01\x02\x01\x02\x01\x01\x01\x02\x03own\x01\x01\x04dayz\awelco"
more "me"
rules "allowedBuild" "0" "clientPort" "2304" "dedicated" "1" "island" "enoch" "language" "65545"
rules "platform" "win" "requiredBuild" "0" "requiredVersion" "129" "timeLeft" "15"
	queue 7 < keywords.lqs
	map enoch < rules.island
	modded true < keywords.mod
	anticheat true < keywords.battleye
	time_of_day 09:07 < keywords
	mods 2 < rules.pages
	mod 1567449491 "CF" 44332211
	mod  "own" 00000000
	description welcome < rules.pages
	attribute day_factor 6.000000 < keywords.etm
	attribute dlc livonia;frostline;0x8;0x10 < rules.pages
	attribute external true < keywords.external
	attribute language English < rules.language
	attribute night_factor 3.500000 < keywords.entm
	attribute port 2302 < keywords.port
	attribute private_hive true < keywords.privHive
	attribute shard 001 < keywords.shard
	attribute signatures dayz < rules.pages
	attribute third_person false < keywords.no3rd

dayz
rules "\x02\x02" "\x02\x01\x02\x01\x02\x01\x02\x01\x02" "\x01\x02" "\x02\x01" "\x01\x03" "junk"
	mods 0 < rules.pages

dayz
map "enoch"
rules "island" "ChernarusPlus"

dayz
map "DayZ_Auto"
rules "island" "ChernarusPlus"
	map ChernarusPlus < rules.island

dayz
keywords "lqsx,25:00,entm"
rules "\x02\x02" "\x01\x02"
	note value.unreadable
	note pages.missing
	note pages.truncated

gmod
keywords " gm:darkrp gmws:2724150474 gmc:rp loc:us ver:260917"
rules "sbox_playershurtplayers" "1" "sv_password" "0"
	version 260917 < keywords.ver:
	mode darkrp < keywords.gm:
	region us < keywords.loc:
	pvp true < rules.sbox_playershurtplayers
	password false < rules.sv_password
	attribute category rp < keywords.gmc:
	attribute gamemode_workshop 2724150474 < keywords.gmws:

gmod
keywords "gm: gmws:abc"
	note value.unreadable

goldsource
rules "amx_nextmap" "de_train" "mp_timeleft" "927" "mp_timelimit" "20" "sv_password" "1"
rules "max_queries_sec" "1"
rules "mp_friendlyfire" ""
	password true < rules.sv_password

jc2mp
map "Players: 1234/5000"
	players 1234 < info.map
	max_players 5000 < info.map

jc2mp
map "Players: ?/5000"
	max_players 5000 < info.map
	note value.unreadable

jc2mp
map "Panau/1"

mordhau
players "0"
places "64"
keywords "H:501310830,C:18955,B:42,O:1,N:Frontline,M:15002"
	players 42 < keywords.B:
	mode Frontline < keywords.N:
	attribute official 1 < keywords.O:

mordhau
keywords "H:501310830,C:523,B:x,N:Deathmatch,M:15000,Lobby_s:6152744854467005185"
	mode Deathmatch < keywords.N:
	note value.unreadable

spaceengineers
keywords "groupId103582791435608384 version1157012 datahashoAR= mods2 gamemodeS10-3-3 view20000"
rules "mod0" "Our Radar" "mod10" "Last" "mods" "2"
	version 1.157.012 < keywords.version
	mode survival < keywords.gamemode
	modded true < keywords.mods
	mods 2 < rules.modN
	mod  "Our Radar" 
	mod  "Last" 
	attribute gamemode S10-3-3 < keywords.gamemode
	attribute steam_group 103582791435608384 < keywords.groupId
	attribute view_distance 20000 < keywords.view

spaceengineers
keywords "groupId0 version1 mods0 gamemodeC"
rules "mods" "0"
	version 0.000.001 < keywords.version
	mode C < keywords.gamemode
	modded false < keywords.mods
	mods 0 < rules.mods
	attribute gamemode C < keywords.gamemode

spaceengineers
keywords "versionx modsx"
	note value.unreadable

insurgency
keywords "g:firefight,p:nwi/pvp_tactical,t:default,v:2160,pure:1,noff,empty,"
	mode firefight < keywords.g:
	attribute playlist nwi/pvp_tactical < keywords.p:
	attribute pure 1 < keywords.pure:
	attribute theater default < keywords.t:

insurgency
keywords "push,mm:pvp,theater:default,empty,"
	mode push < keywords
	attribute playlist pvp < keywords.mm:
	attribute theater default < keywords.theater:

insurgency
keywords "my own tag,empty"

ns2
keywords "274|ns2|M|168|22|3|83|R_S2|rookie|CHUD_0x16|P_S1146|shine|ServerTickrate29|tickrate_29"
rules "ent_count" "270" "mods[000]" "5f4f178 b7149f9 xyz" "tickrate" "29"
	version 274 < keywords
	mode ns2 < keywords
	mods 2 < rules.mods[N]
	mod 99938680 "" 
	mod 191973881 "" 
	attribute average_skill 1146 < keywords.P_S
	attribute ns2plus 0x16 < keywords.CHUD_
	attribute reserved_slots 2 < keywords.R_S
	attribute rookie true < keywords.rookie
	attribute tickrate 29 < keywords.tickrate_
	note value.unreadable

ns2
keywords "our own|ns2"

citadel
game "PVP"
keywords "VER=1.0.33216.1 RGN= PWD=1 BIS=0"
	version 1.0.33216.1 < keywords.VER=
	pvp true < info.game
	password true < keywords.PWD=

citadel
game "PVE"
keywords "PWD=2"
	pvp false < info.game
	note value.unreadable

aapg
keywords "qp=27020;M=;ver=148023;T=Round In Progress 1:46;VM=0;P=0;C=1;pb=1;voip=1;sm=396;HONOR=1;"
	version 148023 < keywords.ver=
	attribute honor 1 < keywords.HONOR=
	attribute phase Round In Progress 1:46 < keywords.T=
	attribute query_port 27020 < keywords.qp=
	attribute tag_p 0 < keywords.P=

aa3
keywords "M=coai;W=foggy;T=day;P=0;C=0;pb=1;voip=1;ver=AA3.3.1;"
	version AA3.3.1 < keywords.ver=
	mode coai < keywords.M=
	time_of_day day < keywords.T=
	attribute tag_p 0 < keywords.P=
	attribute weather foggy < keywords.W=

redorchestra2
keywords "a:64,s:1,b:1,e:1,m:1,h:1,c:0,d:0,n:5,o:5,i:1,g:0,k:100,j:0,t:100,r:0,u:0,f:0,l:,p:0,q:s|,"
rules "bAntiCheatProtected" "True" "bIsDedicated" "False" "bRequiresPassword" "True"
rules "NumPublicConnections" "64"
	password true < rules.bRequiresPassword
	anticheat true < rules.bAntiCheatProtected
	attribute campaign 1 < keywords.m:
	attribute friendly_fire 100 < keywords.t:
	attribute map_type 0 < keywords.r:
	attribute mutators s| < keywords.q:
	attribute realism_level 0 < keywords.g:
	attribute spectator_mode 0 < keywords.p:

risingstorm2
keywords "a:64,m:0,q:,"
	attribute campaign 0 < keywords.m:

l4d
game "L4D - Co-op - Expert"
keywords "empty,coop,versus"
rules "survivor_limit" "4" "mp_friendlyfire" "1"
	mode Co-op < info.game
	attribute difficulty Expert < info.game
	attribute modes coop,versus < keywords

l4d
game "L4D - Versus"
	mode Versus < info.game

l4d
game "Our own"
keywords "survival"
	mode survival < keywords

l4d2
keywords "versus,10v10,versus,secure"
	mode versus < keywords

cod4
players "10"
places "32"
bots "5"
	players 10 < info.players

cod4
players "10"
places "32"

barotrauma
rules "contentpackage" "Vanilla,Our Mod" "contentpackagehash" "C39B,0A0B"
rules "contentpackageid" "0,2559634234"
rules "gamemode" "sandbox" "haspassword" "True" "message" "Come in" "playercount" "3"
rules "version" "0.18.15.0"
	players 3 < rules.playercount
	version 0.18.15.0 < rules.version
	mode sandbox < rules.gamemode
	password true < rules.haspassword
	mods 1 < rules.contentpackage
	mod 2559634234 "Our Mod" 0A0B
	description Come in < rules.message

barotrauma
rules "contentpackage" "Vanilla" "contentpackagehash" "C39B" "contentpackageid" "0"
	mods 0 < rules.contentpackage

barotrauma
rules "contentpackage" "One, and more" "contentpackagehash" "C39B" "contentpackageid" "0"
	attribute content_packages One, and more < rules.contentpackage

daysofwar
players "0"
places "32"
keywords "BUILDID:2,OWNINGID:9,P2PPORT:7777,G_s:Domination"
rules "F_i" "0" "MPN_s" "dow_carentan" "N_i" "5" "ONM_s" "Our Server" "P_i" "32" "V_s" "1.0.3.3"
	players 5 < rules.N_i
	max_players 32 < rules.P_i
	version 1.0.3.3 < rules.V_s
	map dow_carentan < rules.MPN_s
	mode Domination < keywords.G_s
	attribute name Our Server < rules.ONM_s

daysofwar
map "dow_kasserine"
rules "MPN_s" "dow_carentan"

empyrion
players "19"
places "100"
rules "EACActive" "True" "GameModeId" "1" "Host" "Our whole name" "MaxPlayers" "100"
rules "PasswordNeeded" "False"
rules "Players" "20" "ServerInfo" "Fast EXP" "Version" "Alpha 7.6.1"
	max_players 100 < rules.MaxPlayers
	version Alpha 7.6.1 < rules.Version
	password false < rules.PasswordNeeded
	anticheat true < rules.EACActive
	description Fast EXP < rules.ServerInfo
	attribute name Our whole name < rules.Host

squad
rules "GameMode_s" "AAS" "GameVersion_s" "V6.1" "NUMPRIVCONN" "2" "NUMPUBCONN" "98"
rules "Password_b" "true"
rules "PlayerCount_i" "77" "PlayerReserveCount_i" "4" "PublicQueue_i" "6" "ReservedQueue_i" "1"
rules "TeamOne_s" "USA" "TeamTwo_s" "RUS"
	players 77 < rules.PlayerCount_i
	queue 6 < rules.PublicQueue_i
	version V6.1 < rules.GameVersion_s
	mode AAS < rules.GameMode_s
	password true < rules.Password_b

postscriptum
rules "PlayerCount_i" "many" "PublicQueue_i" "-1"
	note value.unreadable

battalion1944
players "0"
places "100"
rules "bat_gamemode_s" "BOMB" "bat_has_password_s" "Y" "bat_map_s" "Derailed"
rules "bat_max_players_i" "10"
rules "bat_name_s" "Our Server" "bat_player_count_s" "9"
	players 9 < rules.bat_player_count_s
	max_players 10 < rules.bat_max_players_i
	mode BOMB < rules.bat_gamemode_s
	password true < rules.bat_has_password_s
	attribute name Our Server < rules.bat_name_s

sandstorm
players "0"
places "0"
rules "Coop_b" "true" "Day_b" "false" "GameMode_s" "Checkpoint" "MatchServer_b" "false"
rules "ModList_s" "98145, 109375," "Mods_b" "true" "Mutated_b" "true" "Mutators_s" "Hardcore,Frenzy"
rules "OfficialRuleset_b" "false" "PlrC_i" "5" "PlrM_i" "8" "Pwd_b" "false" "RankedServer_b" "true"
rules "Versus_b" "false"
	players 5 < rules.PlrC_i
	max_players 8 < rules.PlrM_i
	mode Checkpoint < rules.GameMode_s
	password false < rules.Pwd_b
	modded true < rules.Mods_b
	mods 2 < rules.ModList_s
	mod 98145 "" 
	mod 109375 "" 

killingfloor2
rules "Mode" "Survival" "Difficulty" "3" "CurrentWave" "5" "NumWaves" "7" "bInProgress" "True"
rules "bMutators" "False" "bCustom" "True" "NumSpectators" "0" "ZedCount" "10"
rules "MapName" "KF-BurningParis"
	mode Survival < rules.Mode

soulmask
rules "NO_s" "0.7.1" "OTHER_s" "x"
	version 0.7.1 < rules.NO_s

rust
players "30"
places "44"
keywords "mp300,cp286,ptrak,qp12,$rEU,v2511,^w^z^o,h0a1b2c3d,born1760000000,gmrust,ts4"
rules "build" "1234" "description_01" "two" "description_00" "one " "description_02" ""
rules "description_0" "not this" "ent_cnt" "10" "fps" "30" "fps_avg" "29.5" "hash" "0a1b2c3d"
rules "headerimage" "https://example.org/a.png" "logoimage" "" "pve" "False" "uptime" "60"
rules "url" "https://example.org" "world.seed" "1" "world.size" "3500"
	players 286 < keywords.cp
	max_players 300 < keywords.mp
	queue 12 < keywords.qp
	version 2511 < keywords.v
	region EU < keywords.$r
	pvp true < rules.pve
	modded true < keywords.^
	started 1760000000 < keywords.born
	description one two < rules.description_N
	attribute framework oxide < keywords.^
	attribute gamemode rust < keywords.gm
	attribute hash 0a1b2c3d < keywords.h
	attribute team_size 4 < keywords.ts
	attribute transport rak < keywords.pt
	attribute wipe_cycle weekly < keywords.^

rust
keywords "monthly,vanilla,p,EU,stok,hzzzzzz,head,vv,tsx,cpvp,mp99999999,born0,bornx"
	mode vanilla < keywords.vanilla
	region EU < keywords.EU
	pvp false < keywords.p
	attribute wipe_cycle monthly < keywords.monthly
	note value.unreadable

rust
keywords "mp2000,vanilla,weekly,oxide,carbon,biweekly,monthly,hardcore,softcore,roleplay,"
keywords "modded,pve,training,creative,minigame,NA,EU,cp12"
	max_players 2000 < keywords.mp
	mode vanilla < keywords.vanilla
	region NA < keywords.NA
	pvp false < keywords.pve
	modded true < keywords.modded
	attribute framework oxide < keywords.oxide
	attribute wipe_cycle weekly < keywords.weekly
	note keywords.cut

7dtd
keywords "A7gBQQAADgAAlvqyARJBiAGk"
rules "CurrentPlayers" "3" "CurrentServerTime" "31540904" "DayCount" "3" "DayLightLength" "18"
rules "DayNightLength" "60" "EACEnabled" "True" "GameDifficulty" "2" "GameMode" "GameModeSurvival"
rules "GameName" "My Game" "IsPasswordProtected" "False" "LevelName" "Navezgane"
rules "PlayerKillingMode" "3"
rules "Region" "Europe" "RequiresMod" "False" "ServerDescription" "Come in" "ServerWebsiteURL" ""
rules "StockSettings" "True" "Version" "V 1.0" "WorldSize" "6144"
	version V 1.0 < rules.Version
	mode GameModeSurvival < rules.GameMode
	region Europe < rules.Region
	pvp true < rules.PlayerKillingMode
	password false < rules.IsPasswordProtected
	anticheat true < rules.EACEnabled
	time_of_day 04:54 < rules.CurrentServerTime
	day 1315 < rules.CurrentServerTime
	description Come in < rules.ServerDescription

7dtd
keywords "Version:Alpha "
keywords "8.6;PlayerKillingMode:0;IsPasswordProtected:maybe;CurrentServerTime:x;Port:1;"
	version Alpha 8.6 < keywords.Version
	pvp false < keywords.PlayerKillingMode
	note value.unreadable

7dtd
rules "PlayerKillingMode" "1"

tf2
keywords "highlander,medieval,nocrits,payload,payload,Skial"
rules "sv_password" "1" "mp_timelimit" "30" "sv_contact" "me@example.org" "nextlevel" ""
	mode payload < keywords
	password true < rules.sv_password
	attribute highlander true < keywords.highlander
	attribute medieval true < keywords.medieval
	attribute random_crits false < keywords.nocrits

tf2
keywords "cp,ctf,friendlyfire,norespawntime"
	attribute friendly_fire true < keywords.friendlyfire
	attribute modes cp,ctf < keywords
	attribute respawn_times none < keywords.norespawntime

unturned
players "14"
bots "1"
port "27015"
keywords "PVP,<net>sns</net>"
	players 14 < info.players
	bots 0 < info.bots
	pvp true < keywords.PVP
	modded true < info.bots
	attribute join_port 27016 < info.game_port
	attribute transport sns < keywords.<net>

unturned
players "14"
bots "1"
port "27015"
keywords "PVP,<pf>om</pf>"
	players 14 < info.players
	pvp true < keywords.PVP
	attribute framework om < keywords.<pf>

unturned
keywords "PVE,CHn,HRD,3Pp,WSy,F2P,ACP,BEy,MTXy,<tn>https://example.com/a,b.png</tn>,"
keywords "<net>sns</net>,<pf>rm</pf>"
rules "GameVersion" "3.24.5.0" "Browser_Icon" "https://example.com/i.png" "Browser_Desc_Hint" "Hard"
rules "BookmarkHost" "play.example.com" "Browser_Desc_Full_Count" "2"
rules "Browser_Desc_Full_Line_0" "SGVsbG8sIHd"
rules "Browser_Desc_Full_Line_1" "vcmxkIQ==" "Mod_Count" "2" "Mod_0" "213649746"
rules "Mod_1" "8,1111111111"
rules "Cfg_Count" "3" "Cfg_0" "Items.Spawn_Chance=0.5" "Cfg_1" "Gameplay.Can_Suicide=F"
rules "Cfg_2" "broken"
rules "rocketplugins" "Kits, Uconomy"
	version 3.24.5.0 < rules.GameVersion
	pvp false < keywords.PVE
	anticheat true < keywords.BEy
	mods 2 < rules.Mod_N
	mod 2136497468 "" 
	mod 1111111111 "" 
	description Hello, world! < rules.Browser_Desc_Full_Line_N
	attribute camera third < keywords.3Pp
	attribute cheats false < keywords.CHn
	attribute config Items.Spawn_Chance=0.5;Gameplay.Can_Suicide=F < rules.Cfg_N
	attribute difficulty hard < keywords.HRD
	attribute framework rm < keywords.<pf>
	attribute gold_only false < keywords.F2P
	attribute monetization cosmetic < keywords.MTXy
	attribute proxy true < keywords.ACP
	attribute transport sns < keywords.<net>
	attribute workshop true < keywords.WSy

unturned
keywords "PVP,NORMAL,BOTH,KROW"
rules "rocket" "4.8.0.1" "Browser_Desc_Full_Line_0" "Hello, you there" "Mod_1" "8" "Mod_2" "9"
	pvp true < keywords.PVP
	modded true < rules.rocket
	description Hello, you there < rules.Browser_Desc_Full_Line_N
	attribute camera both < keywords.BOTH
	attribute difficulty normal < keywords.NORMAL
	note parts.missing

valheim
keywords "g=0.221.12,n=36,m=combat_hard"
	version 0.221.12 < keywords.g=
	attribute modifiers combat_hard < keywords.m=
	attribute network_version 36 < keywords.n=

valheim
keywords "0.208.1-Mod1.0,x"
	version 0.208.1-Mod1.0,x < keywords

valheim
keywords "g=,n=,m="

vrising
keywords "pvp,cs4,hc,ded"
rules "blood-bound-enabled" "true" "castle-heart-damage-mode" "CanBeDestroyedByPlayers"
rules "days-runningv2" "39"
rules "desc0" "hello " "desc2" "lost" "desc1" "there" "desc1" "again" "descx" "no" "desc-1" "no"
	pvp true < keywords.pvp
	day 39 < rules.days-runningv2
	description hello therelost < rules.descN
	attribute clan_size 4 < keywords.cs
	attribute tag_hc hc < keywords.hc

vrising
rules "desc0" "a" "desc2" "c" "desc99" "z"
	description a < rules.descN
	note parts.missing

zomboid
keywords ";modded;pvp;VERSION:42.20"
rules "description:1/2" "one " "description:2/2" "two" "description:3" "no" "modCount" "2"
rules "mods" "Alpha;Beta"
rules "open" "1" "public" "0" "pvp" "0" "version" "42.20"
	version 42.20 < keywords.VERSION:
	pvp true < keywords.pvp
	modded true < keywords.modded
	mods 2 < rules.mods
	mod Alpha "" 
	mod Beta "" 
	description one two < rules.description:N

zomboid
rules "mods" "" "description" "short" "pvp" "1"
	pvp true < rules.pvp
	mods 0 < rules.mods
	description short < rules.description

zomboid
rules "mods:2/3" "Beta;Gam" "mods:1/3" "Alpha;" "mods:3/3" "ma" "mods:0/3" "x"
	mods 3 < rules.mods:N
	mod Alpha "" 
	mod Beta "" 
	mod Gamma "" 

rust
keywords "mp100,cp46,modded"
players "2"
places "100"
listed "2"
	players 2 < info.players+list
	max_players 100 < keywords.mp
	modded true < keywords.modded

rust
keywords "mp300,cp258,vanilla"
players "2"
places "44"
listed "2"
	players 258 < keywords.cp
	max_players 300 < keywords.mp
	mode vanilla < keywords.vanilla

exfil
players "0"
rules "Players_s" "1/24" "SteamServerName_s" "Our Server"
	players 1 < rules.Players_s
	max_players 24 < rules.Players_s
	attribute name Our Server < rules.SteamServerName_s

exfil
rules "Players_s" "many"

thefront
keywords "OWNINGID:1,GameMode_s:PVP,Other_s:1"
rules "ServerName_s" "Our Server"
	mode PVP < keywords.GameMode_s
	attribute name Our Server < rules.ServerName_s

hurtworld
rules "eac" "1" "lastwipe" "1760000000" "lootmode" "1" "nextwipe" "-1"
	anticheat true < rules.eac
	started 1760000000 < rules.lastwipe

toxikk
rules "p1073741825" "DM-Dekk" "p1073741826" "Cruzade.CRZBloodLust"
	mode Cruzade.CRZBloodLust < rules.p1073741826

abioticfactor
rules "ModifiedRuleset_i" "3" "StoryProgress_s" "Tarasque"
	attribute modified_ruleset 3 < rules.ModifiedRuleset_i
	attribute story_progress Tarasque < rules.StoryProgress_s

abioticfactor
keywords "P2PPORT:7777,StoryProgress_s:Tarasque,ModifiedRuleset_i:3"
	attribute modified_ruleset 3 < keywords.ModifiedRuleset_i:
	attribute story_progress Tarasque < keywords.StoryProgress_s:

tf2classified
players "5"
bots "4"
	players 5 < info.players

enshrouded
keywords "6;487046"

groundbranch
keywords "nv1032132701,mnTerroristHunt,sp0,wl0"
	attribute mn TerroristHunt < keywords.mn
	attribute nv 1032132701 < keywords.nv

sonsoftheforest
keywords "V:1,G:0f,Pwd:31"
	attribute pwd 31 < keywords.Pwd:

battlebuilder
keywords "v168;playlist=8;region=EU;mode=0001"
	mode 0001 < keywords.mode=
	region EU < keywords.region=

vrising
rules "days-runningv2" "12" "days-until-reset" "3"
	day 12 < rules.days-runningv2
	attribute days_until_reset 3 < rules.days-until-reset

zomboid
rules "mods" "\\Brita;2160432461\\Brita_2;Old"
	mods 3 < rules.mods
	mod Brita "" 
	mod 2160432461 "Brita_2" 
	mod Old "" 
`
